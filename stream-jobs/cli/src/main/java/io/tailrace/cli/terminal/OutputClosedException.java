package io.tailrace.cli.terminal;

import java.io.IOException;
import java.io.OutputStream;

/** Reports that results can no longer be written: their reader closed the pipe, or the disk is full. */
public final class OutputClosedException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private OutputClosedException(IOException cause) {
        super(cause);
    }

    /** Returns whether the reader of a pipe closed it. */
    public boolean isBrokenPipe() {
        String message = getCause().getMessage();
        return message != null && message.contains("Broken pipe");
    }

    /** Returns a stream that throws this exception once, where a PrintStream would ignore the error. */
    public static OutputStream reportingClosed(OutputStream out) {
        return new OutputStream() {
            private boolean lost;

            private OutputClosedException lost(IOException cause) {
                lost = true;
                return new OutputClosedException(cause);
            }

            @Override
            public void write(int b) {
                write(new byte[] {(byte) b}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int from, int length) {
                try {
                    if (!lost) {
                        out.write(bytes, from, length);
                    }
                } catch (IOException e) {
                    throw lost(e);
                }
            }

            @Override
            public void flush() {
                try {
                    if (!lost) {
                        out.flush();
                    }
                } catch (IOException e) {
                    throw lost(e);
                }
            }
        };
    }
}
