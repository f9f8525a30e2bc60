package io.tailrace.signing;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The hash of a signed range: SHA-256 of its bytes without the carriage returns directly before a line feed, because a
 * collector strips one of them, but none of an empty line (schemas/contracts/README.md).
 *
 * <p>Not thread-safe.
 */
public final class RangeHash {

    /** Bytes of a hash. */
    public static final int BYTES = 32;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long RETURNS = 0x0d0d0d0d0d0d0d0dL;
    private static final long LOW_BITS = 0x0101010101010101L;
    private static final long HIGH_BITS = 0x8080808080808080L;

    private final MessageDigest digest = sha256();

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Returns the hash of {@code [from, to)}. */
    public byte[] of(byte[] bytes, int from, int to) {
        int hashed = from;
        int index = carriageReturn(bytes, from, to);
        while (index < to) {
            int end = index;
            while (end < to && bytes[end] == '\r') {
                end++;
            }
            if (end < to && bytes[end] == '\n') {
                digest.update(bytes, hashed, index - hashed);
                hashed = end;
            }
            index = carriageReturn(bytes, end, to);
        }
        digest.update(bytes, hashed, to - hashed);
        return digest.digest();
    }

    /** Returns the index of the next carriage return, or {@code to}. Eight bytes are compared at a time. */
    private static int carriageReturn(byte[] bytes, int from, int to) {
        int index = from;
        for (; index + Long.BYTES <= to; index += Long.BYTES) {
            long differences = (long) LONGS.get(bytes, index) ^ RETURNS;
            if (((differences - LOW_BITS) & ~differences & HIGH_BITS) != 0) {
                break;
            }
        }
        while (index < to && bytes[index] != '\r') {
            index++;
        }
        return index;
    }

    /** Returns the SHA-256 of bytes, without any rule for line ends, in lower-case hexadecimal. */
    public static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(sha256().digest(bytes));
    }
}
