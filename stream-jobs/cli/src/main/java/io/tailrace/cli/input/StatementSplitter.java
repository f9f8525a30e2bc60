package io.tailrace.cli.input;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * Splits a stream into statements with a separator after each; the last one may lack it. Holds one statement at a time.
 */
public final class StatementSplitter {

    /** Receives a statement; the array must not be stored. */
    public interface Receiver {

        void statement(byte[] bytes, int from, int to);
    }

    /** Maximum length of a statement, bytes. */
    static final int MAX_LENGTH = 128 << 20;

    private static final int FIRST_BUFFER = 1 << 16;

    private final InputStream in;
    private final byte separator;
    private byte[] buffer = new byte[FIRST_BUFFER];
    private int limit;

    public StatementSplitter(InputStream in, byte separator) {
        this.in = in;
        this.separator = separator;
    }

    public void read(Receiver receiver) throws IOException {
        int searched = 0;
        while (fill()) {
            int start = 0;
            for (int i = searched; i < limit; i++) {
                if (buffer[i] == separator) {
                    receiver.statement(buffer, start, i);
                    start = i + 1;
                }
            }
            limit -= start;
            System.arraycopy(buffer, start, buffer, 0, limit);
            searched = limit;
        }
        if (limit > 0) {
            receiver.statement(buffer, 0, limit);
        }
    }

    private boolean fill() throws IOException {
        if (limit == buffer.length) {
            if (limit >= MAX_LENGTH) {
                throw new IOException("a statement is longer than " + MAX_LENGTH + " bytes");
            }
            buffer = Arrays.copyOf(buffer, limit * 2);
        }
        int read = in.read(buffer, limit, buffer.length - limit);
        limit += Math.max(0, read);
        return read >= 0;
    }
}
