package io.tailrace.signing;

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

    private final MessageDigest digest = sha256();

    private static MessageDigest sha256() {
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

    private static int carriageReturn(byte[] bytes, int from, int to) {
        int index = from;
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
