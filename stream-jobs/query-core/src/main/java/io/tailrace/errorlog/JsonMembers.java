package io.tailrace.errorlog;

import io.tailrace.lexer.ByteText;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Reads one flat JSON object of strings, numbers, true, false and null. Not thread-safe. */
final class JsonMembers {

    private byte[] in;
    private int at;
    private int to;
    private final ByteArrayOutputStream text = new ByteArrayOutputStream();

    /** Adds every member to {@code into} as text; returns false if the line is not such an object. */
    boolean read(byte[] bytes, int from, int end, Map<String, String> into) {
        in = bytes;
        at = from;
        to = end;
        if (!skip('{')) {
            return false;
        }
        while (!skip('}')) {
            String key = string();
            if (key == null || !skip(':')) {
                return false;
            }
            String value = peek() == '"' ? string() : scalar();
            if (value == null) {
                return false;
            }
            into.put(key, value);
            skip(',');
        }
        return true;
    }

    private int peek() {
        at = ByteText.skipBlanks(in, at, to);
        return at < to ? in[at] : -1;
    }

    private boolean skip(char wanted) {
        boolean found = peek() == wanted;
        at += found ? 1 : 0;
        return found;
    }

    private String scalar() {
        int from = at;
        while (at < to && in[at] != ',' && in[at] != '}' && !ByteText.isBlank(in[at])) {
            at++;
        }
        return at == from ? null : ByteText.utf8(in, from, at);
    }

    private String string() {
        if (!skip('"')) {
            return null;
        }
        text.reset();
        while (at < to) {
            byte b = in[at++];
            if (b == '"') {
                return text.toString(StandardCharsets.UTF_8);
            }
            if (b == '\\' && at < to) {
                escape(in[at++]);
            } else {
                text.write(b);
            }
        }
        return null;
    }

    private void escape(byte b) {
        switch (b) {
            case 'n' -> text.write('\n');
            case 'r' -> text.write('\r');
            case 't' -> text.write('\t');
            case 'b' -> text.write('\b');
            case 'f' -> text.write('\f');
            case 'u' -> unicode();
            default -> text.write(b);
        }
    }

    private void unicode() {
        int code = hex();
        boolean pair = Character.isHighSurrogate((char) code) && at + 1 < to && in[at] == '\\' && in[at + 1] == 'u';
        if (pair) {
            at += 2;
            int low = hex();
            code = Character.isLowSurrogate((char) low) ? Character.toCodePoint((char) code, (char) low) : '\ufffd';
        }
        boolean lone = code <= Character.MAX_VALUE && Character.isSurrogate((char) code);
        text.writeBytes(Character.toString(lone ? '\ufffd' : code).getBytes(StandardCharsets.UTF_8));
    }

    private int hex() {
        int code = 0;
        for (int i = 0; i < 4 && at < to; i++, at++) {
            int digit = Character.digit(in[at], 16);
            if (digit < 0) {
                return code;
            }
            code = code << 4 | digit;
        }
        return code;
    }
}
