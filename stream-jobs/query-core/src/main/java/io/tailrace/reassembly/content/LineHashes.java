package io.tailrace.reassembly.content;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Finds line ends and computes the hashes of lines. */
public final class LineHashes {

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long FEEDS = 0x0a0a0a0a0a0a0a0aL;
    private static final long LOW_BITS = 0x0101010101010101L;
    private static final long HIGH_BITS = 0x8080808080808080L;
    private static final long PRIME = 0x9e3779b97f4a7c15L;

    private LineHashes() {}

    /**
     * Returns the index after the first line feed of {@code [from, to)}, or {@code to} if there is none. Eight bytes
     * are compared at a time.
     */
    public static int end(byte[] bytes, int from, int to) {
        int position = from;
        for (; position + Long.BYTES <= to; position += Long.BYTES) {
            long differences = (long) LONGS.get(bytes, position) ^ FEEDS;
            long zeros = (differences - LOW_BITS) & ~differences & HIGH_BITS;
            if (zeros != 0) {
                return position + (Long.numberOfTrailingZeros(zeros) >>> 3) + 1;
            }
        }
        while (position < to) {
            if (bytes[position++] == '\n') {
                return position;
            }
        }
        return to;
    }

    /**
     * Returns the index after the last byte of the line's content: without the line feed and the carriage returns
     * before it, of which a collector may have stripped one. A range that ends within a line end ends with
     * the carriage return.
     */
    public static int contentEnd(byte[] bytes, int from, int to) {
        int end = to > from && bytes[to - 1] == '\n' ? to - 1 : to;
        while (end > from && bytes[end - 1] == '\r') {
            end--;
        }
        return end;
    }

    /** Returns a well-mixed 64-bit hash of {@code [from, to)}. Not for security. */
    public static long hash(byte[] bytes, int from, int to) {
        long hash = PRIME ^ (to - from);
        int position = from;
        for (; position + Long.BYTES <= to; position += Long.BYTES) {
            hash = join(hash, (long) LONGS.get(bytes, position));
        }
        long rest = 0;
        for (int shift = 0; position < to; shift += Byte.SIZE) {
            rest |= (bytes[position++] & 0xffL) << shift;
        }
        return mix(join(hash, rest));
    }

    /** Appends a number to a hash; the order is significant. */
    static long join(long hash, long number) {
        long product = (hash ^ number) * PRIME;
        return product ^ (product >>> 29);
    }

    private static long mix(long hash) {
        long mixed = (hash ^ (hash >>> 32)) * 0xd6e8feb86659fd93L;
        return mixed ^ (mixed >>> 32);
    }
}
