package io.tailrace.cli.input;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** A stream that ends at the first read error and stores the error, so that the bytes before it still count. */
public final class TruncationTolerantInputStream extends FilterInputStream {

    private IOException failure;

    public TruncationTolerantInputStream(InputStream in) {
        super(in);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int from, int length) {
        if (failure != null) {
            return -1;
        }
        try {
            return in.read(bytes, from, length);
        } catch (IOException e) {
            failure = e;
            return -1;
        }
    }

    /** Returns why it ended early, or null. */
    public IOException failure() {
        return failure;
    }
}
