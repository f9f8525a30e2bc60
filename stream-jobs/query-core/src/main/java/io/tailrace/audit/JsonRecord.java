package io.tailrace.audit;

import io.tailrace.lexer.ByteText;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads {@code {"audit_record":{"key":"value","key":7,…}}} member by member. It is milder than a JSON parser in one
 * respect, for the plugin does not escape every control character: such a byte is taken as it is, and noted. Not
 * thread-safe.
 */
final class JsonRecord {

    private static final byte[] OPENING = ByteText.ascii("audit_record");

    private byte[] in;
    private int at;
    private int to;

    /** Text of the latest key or value, unescaped, in {@code [0, length)}. */
    byte[] text = new byte[1024];

    int length;
    String key;
    /** A control character stood where JSON allows none. */
    boolean repaired;

    /** Starts a record; false where it does not open as one. */
    boolean open(byte[] bytes, int from, int end) {
        in = bytes;
        at = from;
        to = end;
        repaired = false;
        return skip('{') && string() && isOpening() && skip(':') && skip('{');
    }

    private boolean isOpening() {
        return length == OPENING.length && ByteText.startsWith(text, 0, length, OPENING);
    }

    /** The object has no further member, and ends. */
    boolean close() {
        return skip('}') && skip('}') && ByteText.skipBlanks(in, skipComma(), to) == to;
    }

    private int skipComma() {
        skip(',');
        return at;
    }

    /** True when the object ends here. */
    boolean atEnd() {
        at = ByteText.skipBlanks(in, at, to);
        return at < to && in[at] == '}';
    }

    /** Reads the next member into {@link #key} and {@link #text}; false where there is none that can be read. */
    boolean member() {
        skip(',');
        if (!string()) {
            return false;
        }
        key = new String(text, 0, length, StandardCharsets.UTF_8);
        if (!skip(':')) {
            return false;
        }
        at = ByteText.skipBlanks(in, at, to);
        return at < to && (in[at] == '"' ? string() : scalar());
    }

    private boolean skip(char wanted) {
        at = ByteText.skipBlanks(in, at, to);
        if (at < to && in[at] == wanted) {
            at++;
            return true;
        }
        return false;
    }

    /** Reads a number, true, false or null as its text. */
    private boolean scalar() {
        int from = at;
        while (at < to && in[at] != ',' && in[at] != '}' && !ByteText.isBlank(in[at])) {
            at++;
        }
        reserve(at - from);
        System.arraycopy(in, from, text, 0, at - from);
        length = at - from;
        return length > 0 && text[0] != '{' && text[0] != '[';
    }

    private boolean string() {
        if (!skip('"')) {
            return false;
        }
        length = 0;
        while (at < to) {
            byte b = in[at++];
            if (b == '"') {
                return true;
            }
            if (b == '\\' && at < to) {
                escape();
            } else {
                repaired |= b >= 0 && b < ' ';
                put(b);
            }
        }
        return false;
    }

    private void escape() {
        byte b = in[at++];
        switch (b) {
            case 'n' -> put((byte) '\n');
            case 'r' -> put((byte) '\r');
            case 't' -> put((byte) '\t');
            case 'b' -> put((byte) '\b');
            case 'f' -> put((byte) '\f');
            case 'u' -> unicode();
            default -> put(b);
        }
    }

    private void unicode() {
        int code = hex();
        if (Character.isHighSurrogate((char) code) && at + 1 < to && in[at] == '\\' && in[at + 1] == 'u') {
            at += 2;
            code = Character.toCodePoint((char) code, (char) hex());
        }
        String character = Character.isValidCodePoint(code) ? Character.toString(code) : "\ufffd";
        for (byte b : character.getBytes(StandardCharsets.UTF_8)) {
            put(b);
        }
    }

    private int hex() {
        int code = 0;
        for (int i = 0; i < 4 && at < to; i++) {
            int digit = Character.digit(in[at], 16);
            if (digit < 0) {
                repaired = true;
                return code;
            }
            code = code << 4 | digit;
            at++;
        }
        return code;
    }

    private void put(byte b) {
        reserve(length + 1);
        text[length++] = b;
    }

    private void reserve(int size) {
        if (size > text.length) {
            text = Arrays.copyOf(text, Math.max(size, text.length * 2));
        }
    }
}
