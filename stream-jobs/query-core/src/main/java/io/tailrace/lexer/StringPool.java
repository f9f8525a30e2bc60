package io.tailrace.lexer;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Caches strings of byte ranges that recur: users, hosts, databases, numbers. It stores the latest string of each
 * slot, so its size is bounded and a miss costs only a new string. Not thread-safe.
 */
public final class StringPool {

    private static final int SLOTS = 4096;
    private static final int MAX_LENGTH = 96;

    private final byte[][] keys = new byte[SLOTS][];
    private final String[] values = new String[SLOTS];

    /** Decodes the range as UTF-8; invalid bytes become the replacement character. */
    public String utf8(byte[] bytes, int from, int to) {
        int length = to - from;
        if (length == 0) {
            return "";
        }
        if (length > MAX_LENGTH) {
            return ByteText.utf8(bytes, from, to);
        }
        int slot = ByteText.hash(bytes, from, to) & SLOTS - 1;
        byte[] key = keys[slot];
        if (key == null || !Arrays.equals(key, 0, key.length, bytes, from, to)) {
            key = Arrays.copyOfRange(bytes, from, to);
            keys[slot] = key;
            values[slot] = new String(key, StandardCharsets.UTF_8);
        }
        return values[slot];
    }
}
