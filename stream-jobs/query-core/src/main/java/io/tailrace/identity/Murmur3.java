package io.tailrace.identity;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Computes MurmurHash3 x64 128 with seed 0 incrementally. Austin Appleby's algorithm is in the public domain, fast,
 * well distributed, and has test vectors in every language. Not thread-safe.
 */
public final class Murmur3 {

    private static final long C1 = 0x87c37b91114253d5L;
    private static final long C2 = 0x4cf5ad432745937fL;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int BLOCK = 16;
    private static final byte SEPARATOR = 0x1f;

    private final byte[] tail = new byte[BLOCK];
    private int tailLength;
    private long total;
    private long high;
    private long low;

    /** Resets the hash to its initial state. */
    public void reset() {
        tailLength = 0;
        total = 0;
        high = 0;
        low = 0;
    }

    /** Adds a text as UTF-8, followed by a separator, so that no two sequences of texts are the same input. */
    public Murmur3 update(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        update(bytes, 0, bytes.length);
        return update(SEPARATOR);
    }

    /** Adds a number as 8 little-endian bytes. */
    public Murmur3 update(long value) {
        for (int shift = 0; shift < 64; shift += 8) {
            update((byte) (value >>> shift));
        }
        return this;
    }

    /** Adds the range {@code [from, to)}. */
    public Murmur3 update(byte[] bytes, int from, int to) {
        total += to - from;
        int i = from;
        if (tailLength > 0) {
            while (tailLength < BLOCK && i < to) {
                tail[tailLength++] = bytes[i++];
            }
            if (tailLength < BLOCK) {
                return this;
            }
            block(littleEndian(tail, 0), littleEndian(tail, 8));
            tailLength = 0;
        }
        while (to - i >= BLOCK) {
            block(littleEndian(bytes, i), littleEndian(bytes, i + 8));
            i += BLOCK;
        }
        while (i < to) {
            tail[tailLength++] = bytes[i++];
        }
        return this;
    }

    private Murmur3 update(byte b) {
        tail[tailLength++] = b;
        total++;
        if (tailLength == BLOCK) {
            block(littleEndian(tail, 0), littleEndian(tail, 8));
            tailLength = 0;
        }
        return this;
    }

    /** Finishes the hash and returns 16 bytes: h1, then h2, each big-endian, as the hash is commonly printed. */
    public byte[] digest() {
        long first = 0;
        long second = 0;
        for (int i = 0; i < tailLength; i++) {
            long b = tail[i] & 0xffL;
            if (i < 8) {
                first |= b << 8 * i;
            } else {
                second |= b << 8 * (i - 8);
            }
        }
        low ^= Long.rotateLeft(second * C2, 33) * C1;
        high ^= Long.rotateLeft(first * C1, 31) * C2;
        return mixed();
    }

    private byte[] mixed() {
        long h1 = high ^ total;
        long h2 = low ^ total;
        h1 += h2;
        h2 += h1;
        h1 = mix(h1);
        h2 = mix(h2);
        h1 += h2;
        h2 += h1;
        byte[] hash = new byte[BLOCK];
        for (int i = 0; i < 8; i++) {
            hash[i] = (byte) (h1 >>> 56 - 8 * i);
            hash[8 + i] = (byte) (h2 >>> 56 - 8 * i);
        }
        return hash;
    }

    private void block(long k1, long k2) {
        high ^= Long.rotateLeft(k1 * C1, 31) * C2;
        high = (Long.rotateLeft(high, 27) + low) * 5 + 0x52dce729;
        low ^= Long.rotateLeft(k2 * C2, 33) * C1;
        low = (Long.rotateLeft(low, 31) + high) * 5 + 0x38495ab5;
    }

    private static long mix(long k) {
        long x = k;
        x ^= x >>> 33;
        x *= 0xff51afd7ed558ccdL;
        x ^= x >>> 33;
        x *= 0xc4ceb9fe1a85ec53L;
        return x ^ x >>> 33;
    }

    private static long littleEndian(byte[] bytes, int from) {
        return (long) LONGS.get(bytes, from);
    }
}
