package io.tailrace.lexer;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Caches strings of byte ranges that recur: users, hosts, databases, numbers. It stores the latest string of each
 * slot, so its size is bounded and a miss costs only a new string. Not thread-safe.
 *
 * <p>It begins with few slots, because each log that is being read has pools, and a job reads thousands of logs. When
 * texts have replaced each other as often as it has slots, it doubles them.
 */
public final class StringPool {

    private static final int FIRST_SLOTS = 32;
    private static final int MAX_SLOTS = 4096;
    private static final int MAX_LENGTH = 96;

    private byte[][] keys = new byte[FIRST_SLOTS][];
    private String[] values = new String[FIRST_SLOTS];
    private int replaced;

    /** Decodes the range as UTF-8; invalid bytes become the replacement character. */
    public String utf8(byte[] bytes, int from, int to) {
        int length = to - from;
        if (length == 0) {
            return "";
        }
        if (length > MAX_LENGTH) {
            return ByteText.utf8(bytes, from, to);
        }
        int hash = ByteText.hash(bytes, from, to);
        int slot = hash & keys.length - 1;
        byte[] key = keys[slot];
        if (key != null && Arrays.equals(key, 0, key.length, bytes, from, to)) {
            return values[slot];
        }
        if (key != null && keys.length < MAX_SLOTS && ++replaced > keys.length) {
            grow();
            slot = hash & keys.length - 1;
        }
        keys[slot] = Arrays.copyOfRange(bytes, from, to);
        values[slot] = new String(keys[slot], StandardCharsets.UTF_8);
        return values[slot];
    }

    private void grow() {
        keys = new byte[2 * keys.length][];
        values = new String[keys.length];
        replaced = 0;
    }

    int slots() {
        return keys.length;
    }
}
