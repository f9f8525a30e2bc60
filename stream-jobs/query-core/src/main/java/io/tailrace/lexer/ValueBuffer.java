package io.tailrace.lexer;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A reusable buffer for an unescaped value. */
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

    /** Appends a character in UTF-8; an invalid one, or half of a surrogate pair, as U+FFFD. */
    public void putCharacter(int code) {
        boolean sound = Character.isValidCodePoint(code) && (code < 0xd800 || code > 0xdfff);
        byte[] utf8 = Character.toString(sound ? code : REPLACEMENT).getBytes(StandardCharsets.UTF_8);
        put(utf8, 0, utf8.length);
    }
}
