package io.tailrace.audit.json;

import io.tailrace.audit.record.MemberHandler;
import io.tailrace.audit.record.MemberPath;
import io.tailrace.audit.record.RecordResult;
import io.tailrace.json.JsonStrings;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.ValueBuffer;

/**
 * Reads one JSON object member by member. Nested names are joined with a full stop; elements of an array have the
 * array's name. The reader is more tolerant than a JSON parser in two respects: it accepts and records control
 * characters, which Percona's plugin does not always escape, and the comma between members may be missing, as in
 * MySQL's manual. Not thread-safe.
 */
public final class JsonRecordReader {

    private static final int MAX_DEPTH = 16;

    private final JsonStrings strings = new JsonStrings();
    private final ValueBuffer value = new ValueBuffer();
    private final MemberPath path = new MemberPath();
    private final byte[] wrapper;
    private MemberHandler out;
    private byte[] in;
    private int at;
    private int to;
    private boolean cut;

    /** A control character was read that JSON does not allow. */
    private boolean repaired;

    public JsonRecordReader() {
        this("");
    }

    /** @param wrapper the member that contains the whole record; it is not part of the names of its members */
    public JsonRecordReader(String wrapper) {
        this.wrapper = ByteText.ascii(wrapper);
    }

    public boolean isRepaired() {
        return repaired;
    }

    /** Returns the index after the latest object. */
    int end() {
        return at;
    }

    /** Reads the object at the start of the range; only blanks and a comma may follow it. */
    public RecordResult read(byte[] bytes, int from, int end, MemberHandler members) {
        in = bytes;
        at = ByteText.skipBlanks(bytes, from, end);
        to = end;
        out = members;
        repaired = false;
        cut = false;
        path.truncate(0);
        boolean whole = object(1);
        in = null;
        out = null;
        if (!whole) {
            return cut ? RecordResult.CUT : RecordResult.MALFORMED;
        }
        int rest = ByteText.skipBlanks(bytes, at, end);
        if (rest < end && bytes[rest] == ',') {
            rest = ByteText.skipBlanks(bytes, rest + 1, end);
        }
        return rest == end ? RecordResult.WHOLE : RecordResult.MALFORMED;
    }

    private boolean object(int depth) {
        if (!skip('{')) {
            return false;
        }
        int outer = path.length();
        while (!skip('}')) {
            skip(',');
            if (!string()) {
                return false;
            }
            enter();
            if (!skip(':') || !value(depth)) {
                return false;
            }
            path.truncate(outer);
        }
        return true;
    }

    /** Appends the current name to the path. */
    private void enter() {
        boolean wraps = path.length() == 0
                && wrapper.length > 0
                && value.length == wrapper.length
                && ByteText.startsWith(value.bytes, 0, value.length, wrapper);
        if (!wraps) {
            path.enter(value.bytes, 0, value.length);
        }
    }

    private boolean array(int depth) {
        if (!skip('[')) {
            return false;
        }
        while (!skip(']')) {
            skip(',');
            boolean element = peek() == '{';
            if (!value(depth)) {
                return false;
            }
            if (element) {
                out.element(path.name());
            }
        }
        return true;
    }

    private boolean value(int depth) {
        int b = peek();
        if (b == '{' || b == '[') {
            return depth < MAX_DEPTH && (b == '{' ? object(depth + 1) : array(depth + 1));
        }
        if (b == '"' ? !string() : !scalar()) {
            return false;
        }
        out.member(path.name(), value.bytes, value.length);
        return true;
    }

    /** Returns the next byte that is not blank, or -1 at the end. */
    private int peek() {
        at = ByteText.skipBlanks(in, at, to);
        cut |= at == to;
        return at == to ? -1 : in[at];
    }

    private boolean skip(char wanted) {
        if (peek() == wanted) {
            at++;
            return true;
        }
        return false;
    }

    /** Reads a number, true, false or null as its text. */
    private boolean scalar() {
        int from = at;
        while (at < to && isScalar(in[at])) {
            at++;
        }
        cut |= at == to;
        value.clear();
        value.put(in, from, at);
        return value.length > 0 && at < to;
    }

    private static boolean isScalar(byte b) {
        return ByteText.isDigit(b) || b == '-' || b == '+' || b == '.' || b >= 'a' && b <= 'z' || b == 'E';
    }

    private boolean string() {
        if (!skip('"')) {
            return false;
        }
        int after = strings.read(in, at, to, value);
        repaired |= strings.isRepaired();
        cut |= after < 0;
        at = after < 0 ? to : after;
        return after >= 0;
    }
}
