package io.tailrace.cli.terminal;

import java.io.IOException;
import java.io.OutputStream;

/** Results cannot be written any more: their reader went away, or the disk is full. */
public final class OutputClosedException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private OutputClosedException(IOException cause) {
        super(cause);
    }

    /** The reader of a pipe has seen enough. */
    public boolean isBrokenPipe() {
        String message = getCause().getMessage();
        return message != null && message.contains("Broken pipe");
    }

    /** The same stream, which says so, once, where a PrintStream would go on in silence. */
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
