package io.tailrace.audit.record;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A value as it is unescaped; used again and again. */
public final class ValueBuffer {

    private static final int REPLACEMENT = 0xfffd;

    public byte[] bytes = new byte[1024];
    public int length;

    public void clear() {
        length = 0;
    }

    public void put(byte b) {
        if (length == bytes.length) {
            bytes = Arrays.copyOf(bytes, length * 2);
        }
        bytes[length++] = b;
    }

    public void put(byte[] from, int start, int end) {
        int more = end - start;
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(length + more, bytes.length * 2));
        }
        System.arraycopy(from, start, bytes, length, more);
        length += more;
    }

    /** Appends a character in UTF-8; one that does not exist, or half of a pair, as U+FFFD. */
    public void putCharacter(int code) {
        boolean sound = Character.isValidCodePoint(code) && (code < 0xd800 || code > 0xdfff);
        byte[] utf8 = Character.toString(sound ? code : REPLACEMENT).getBytes(StandardCharsets.UTF_8);
        put(utf8, 0, utf8.length);
    }
}
