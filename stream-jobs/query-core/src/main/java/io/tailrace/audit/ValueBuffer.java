package io.tailrace.audit;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A value as it is unescaped; used again and again. */
final class ValueBuffer {

    private static final int REPLACEMENT = 0xfffd;

    byte[] bytes = new byte[1024];
    int length;

    void clear() {
        length = 0;
    }

    void put(byte b) {
        if (length == bytes.length) {
            bytes = Arrays.copyOf(bytes, length * 2);
        }
        bytes[length++] = b;
    }

    void put(byte[] from, int start, int end) {
        int more = end - start;
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(length + more, bytes.length * 2));
        }
        System.arraycopy(from, start, bytes, length, more);
        length += more;
    }

    /** Appends a character in UTF-8; one that does not exist, or half of a pair, as U+FFFD. */
    void putCharacter(int code) {
        boolean sound = Character.isValidCodePoint(code) && (code < 0xd800 || code > 0xdfff);
        byte[] utf8 = Character.toString(sound ? code : REPLACEMENT).getBytes(StandardCharsets.UTF_8);
        put(utf8, 0, utf8.length);
    }
}
