package io.tailrace.errorlog;

import io.tailrace.json.JsonStrings;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.ValueBuffer;
import java.util.Map;

/** Reads one flat JSON object of strings, numbers, true, false and null. Not thread-safe. */
final class JsonMembers {

    private byte[] in;
    private int at;
    private int to;
    private final JsonStrings strings = new JsonStrings();
    private final ValueBuffer text = new ValueBuffer();

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
        int after = strings.read(in, at, to, text);
        at = after < 0 ? to : after;
        return after < 0 ? null : ByteText.utf8(text.bytes, 0, text.length);
    }
}
