package io.tailrace.json;

import io.tailrace.lexer.ValueBuffer;

/**
 * Reads strings of JSON that servers write, valid or not. An unknown escape stands for its character, half of a surrogate
 * pair for U+FFFD. Control characters, and a {@code \\u} without four digits, are read and noted. Not thread-safe.
 */
public final class JsonStrings {

    private byte[] in;
    private int at;
    private int to;
    private ValueBuffer out;
    private boolean repaired;

    /**
     * Reads the string whose first character is at {@code from}, after its quote.
     *
     * @param value is overwritten with the text
     * @return the index after the closing quote; -1 where there is none before {@code end}
     */
    public int read(byte[] bytes, int from, int end, ValueBuffer value) {
        in = bytes;
        at = from;
        to = end;
        out = value;
        repaired = false;
        value.clear();
        boolean whole = read();
        in = null;
        return whole ? at : -1;
    }

    /** Whether the latest string contained what JSON does not allow. */
    public boolean isRepaired() {
        return repaired;
    }

    private boolean read() {
        while (at < to) {
            byte b = in[at++];
            if (b == '"') {
                return true;
            }
            if (b == '\\' && at < to) {
                escape();
            } else {
                repaired |= b >= 0 && b < ' ';
                out.put(b);
            }
        }
        return false;
    }

    private void escape() {
        byte b = in[at++];
        switch (b) {
            case 'n' -> out.put((byte) '\n');
            case 'r' -> out.put((byte) '\r');
            case 't' -> out.put((byte) '\t');
            case 'b' -> out.put((byte) '\b');
            case 'f' -> out.put((byte) '\f');
            case 'u' -> out.putCharacter(unicode());
            default -> out.put(b);
        }
    }

    private int unicode() {
        char code = hex();
        int next = at;
        if (Character.isHighSurrogate(code) && at + 1 < to && in[at] == '\\' && in[at + 1] == 'u') {
            at += 2;
            char low = hex();
            if (Character.isLowSurrogate(low)) {
                return Character.toCodePoint(code, low);
            }
            at = next;
        }
        return code;
    }

    private char hex() {
        int code = 0;
        for (int i = 0; i < 4 && at < to; i++) {
            int digit = Character.digit(in[at], 16);
            if (digit < 0) {
                repaired = true;
                return (char) code;
            }
            code = code << 4 | digit;
            at++;
        }
        return (char) code;
    }
}
