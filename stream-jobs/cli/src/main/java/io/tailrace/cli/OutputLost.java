package io.tailrace.cli;

import java.io.IOException;
import java.io.OutputStream;

/** Results cannot be written any more: their reader went away, or the disk is full. */
final class OutputLost extends RuntimeException {

    private static final long serialVersionUID = 1;

    private OutputLost(IOException cause) {
        super(cause);
    }

    /** The reader of a pipe has seen enough. */
    boolean isBrokenPipe() {
        String message = getCause().getMessage();
        return message != null && message.contains("Broken pipe");
    }

    /** The same stream, which says so where a PrintStream would go on in silence. */
    static OutputStream telling(OutputStream out) {
        return new OutputStream() {
            @Override
            public void write(int b) {
                write(new byte[] {(byte) b}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int from, int length) {
                try {
                    out.write(bytes, from, length);
                } catch (IOException e) {
                    throw new OutputLost(e);
                }
            }

            @Override
            public void flush() {
                try {
                    out.flush();
                } catch (IOException e) {
                    throw new OutputLost(e);
                }
            }
        };
    }
}
