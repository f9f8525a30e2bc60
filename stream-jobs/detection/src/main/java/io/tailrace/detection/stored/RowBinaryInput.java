package io.tailrace.detection.stored;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Reads the values of ClickHouse's format RowBinary from a stream. Not thread-safe. */
final class RowBinaryInput {

    private static final int INITIAL_BYTES = 1 << 16;
    private static final int MASK = 0x7f;
    private static final int BITS = 7;
    /** A longer text is an error of the stream: ClickHouse limits the rows that Tailrace writes to less. */
    private static final int MAX_TEXT_BYTES = 1 << 28;

    private static final int CACHED = 1 << 12;
    private static final int MAX_CACHED_BYTES = 64;
    private static final int FACTOR = 31;

    private final InputStream in;
    /** Recent short texts by their hash: most values of a column repeat. */
    private final String[] texts = new String[CACHED];

    private final byte[][] textBytes = new byte[CACHED][];
    private byte[] buffer = new byte[INITIAL_BYTES];
    private int from;
    private int to;

    RowBinaryInput(InputStream in) {
        this.in = in;
    }

    /** Returns whether the stream has ended, between two rows. */
    boolean isAtEnd() throws IOException {
        return from == to && !fill(1);
    }

    byte readByte() throws IOException {
        require(1);
        return buffer[from++];
    }

    int readInt() throws IOException {
        require(Integer.BYTES);
        int value = 0;
        for (int i = Integer.BYTES - 1; i >= 0; i--) {
            value = value << Byte.SIZE | buffer[from + i] & 0xff;
        }
        from += Integer.BYTES;
        return value;
    }

    long readLong() throws IOException {
        require(Long.BYTES);
        long value = 0;
        for (int i = Long.BYTES - 1; i >= 0; i--) {
            value = value << Byte.SIZE | buffer[from + i] & 0xff;
        }
        from += Long.BYTES;
        return value;
    }

    double readDouble() throws IOException {
        return Double.longBitsToDouble(readLong());
    }

    /** Reads an unsigned LEB128 number. */
    int readLength() throws IOException {
        long length = 0;
        int shift = 0;
        byte next;
        do {
            next = readByte();
            length |= (long) (next & MASK) << shift;
            shift += BITS;
        } while (next < 0 && shift < Integer.SIZE);
        if (next < 0 || length > MAX_TEXT_BYTES) {
            throw new IOException("expected a length of at most " + MAX_TEXT_BYTES + ", found " + length);
        }
        return (int) length;
    }

    String readText() throws IOException {
        int length = readLength();
        if (length == 0) {
            return "";
        }
        require(length);
        int start = from;
        from += length;
        return length <= MAX_CACHED_BYTES ? cached(start, from) : text(start, from);
    }

    private String cached(int start, int end) {
        int hash = 0;
        for (int i = start; i < end; i++) {
            hash = hash * FACTOR + buffer[i];
        }
        int slot = (hash ^ hash >>> Short.SIZE) & CACHED - 1;
        byte[] known = textBytes[slot];
        if (known == null || !Arrays.equals(known, 0, known.length, buffer, start, end)) {
            textBytes[slot] = Arrays.copyOfRange(buffer, start, end);
            texts[slot] = text(start, end);
        }
        return texts[slot];
    }

    private String text(int start, int end) {
        return new String(buffer, start, end - start, StandardCharsets.UTF_8);
    }

    private void require(int bytes) throws IOException {
        if (to - from < bytes && !fill(bytes)) {
            throw new EOFException("the result ends within a row");
        }
    }

    /** Returns whether as many bytes are available. */
    private boolean fill(int bytes) throws IOException {
        int left = to - from;
        byte[] target = bytes > buffer.length ? new byte[Math.max(bytes, 2 * buffer.length)] : buffer;
        System.arraycopy(buffer, from, target, 0, left);
        buffer = target;
        from = 0;
        to = left;
        while (to < bytes) {
            int read = in.read(buffer, to, buffer.length - to);
            if (read < 0) {
                return false;
            }
            to += read;
        }
        return true;
    }
}
