package io.tailrace.audit.json;

import io.tailrace.audit.record.RecordScanner;
import io.tailrace.audit.xml.XmlScanner;
import io.tailrace.lexer.ByteText;
import java.nio.ByteBuffer;

/**
 * Finds the objects of a JSON array, with or without its brackets and commas: unfinished files have no closing
 * bracket, and writers under pressure omit separators. An object ends with its last brace and includes the comma
 * after it. Writers never start an object in an invalid position, or inside another object on a separate line. Such
 * an object proves that a crash cut off the current one.
 */
public final class JsonScanner implements RecordScanner {

    private static final int MAX_DEPTH = 62;
    private static final int MAX_BLANKS = 8;
    private static final byte[] FIRST_MEMBER = ByteText.ascii("timestamp\"");
    private static final byte[] QUOTED_FIRST_MEMBER = ByteText.ascii("\"timestamp\"");
    /** Debug builds write it before the time. */
    private static final byte[] QUOTED_CLASS = ByteText.ascii("\"event_class_name\"");

    private int depth;
    /** Bit n is set if the bracket at depth n opens an array. */
    private long arrays;

    private boolean inString;
    /** The latest byte that is neither blank nor in a string. */
    private byte last;

    private int next;

    @Override
    public Found outside(byte[] buffer, int lineFrom, int at, int to, boolean searching) {
        int i = ByteText.skipBlanks(buffer, at, to);
        next = to;
        if (i == to) {
            return Found.BLANK;
        }
        boolean first = ByteText.skipBlanks(buffer, lineFrom, to) == i;
        if (buffer[i] == '{' && (first || !searching)) {
            open();
            next = i + 1;
            return Found.RECORD;
        }
        if (isMark(buffer[i]) && (i == lineFrom || !searching)) {
            next = throughMarks(buffer, i, to);
            return Found.DOCUMENT;
        }
        return Found.STRAY;
    }

    private static boolean isMark(byte b) {
        return b == '[' || b == ']' || b == ',';
    }

    private static int throughMarks(byte[] buffer, int from, int to) {
        int i = from;
        while (i < to && isMark(buffer[i])) {
            i++;
        }
        return XmlScanner.throughBlanks(buffer, i, to);
    }

    private void open() {
        depth = 1;
        arrays = 0;
        inString = false;
        last = '{';
    }

    @Override
    public Ended inside(byte[] buffer, int lineFrom, int at, int to) {
        if (at == lineFrom && startsNewObject(buffer, lineFrom, to)) {
            next = lineFrom;
            return Ended.BROKEN_OFF;
        }
        int i = at;
        while (i < to) {
            byte b = buffer[i];
            if (inString) {
                if (b == '"') {
                    int brace = glued(buffer, lineFrom, i, to);
                    if (brace > at) {
                        next = brace;
                        return Ended.BROKEN_OFF;
                    }
                    inString = false;
                } else if (b == '\\') {
                    i++;
                }
            } else if (!ByteText.isBlank(b)) {
                if (isMisplaced(buffer, i, to)) {
                    next = ByteText.skipBlanks(buffer, lineFrom, to) == i ? lineFrom : i;
                    return Ended.BROKEN_OFF;
                }
                structure(b);
                if (depth == 0) {
                    next = withSeparator(buffer, i + 1, to);
                    return Ended.RECORD;
                }
            }
            i++;
        }
        next = to;
        return Ended.NOT_YET;
    }

    /**
     * Returns whether a line starts a new object: it starts with a brace or is an opening bracket. Within an object,
     * writers put both after a member's name.
     */
    private boolean startsNewObject(byte[] buffer, int lineFrom, int to) {
        int i = ByteText.skipBlanks(buffer, lineFrom, to);
        if (i == to) {
            return false;
        }
        boolean bracket = buffer[i] == '[' || inString && buffer[i] == ']';
        return buffer[i] == '{' || bracket && ByteText.trimBlanks(buffer, i, to) == i + 1;
    }

    /**
     * Returns the index of the brace of {@code { "timestamp"} whose first quotation mark closes the current string,
     * or -1.
     */
    private static int glued(byte[] buffer, int lineFrom, int mark, int to) {
        if (!ByteText.startsWith(buffer, mark + 1, to, FIRST_MEMBER)) {
            return -1;
        }
        int i = mark - 1;
        while (i > lineFrom && mark - i < MAX_BLANKS && ByteText.isBlank(buffer[i])) {
            i--;
        }
        return i >= lineFrom && buffer[i] == '{' ? i : -1;
    }

    /**
     * Returns whether the byte is invalid here: in an object a value follows a colon, and no array ends. A brace that
     * does not start a record proves nothing.
     */
    private boolean isMisplaced(byte[] buffer, int i, int to) {
        if (isArray()) {
            return false;
        }
        return switch (buffer[i]) {
            case '{' -> last != ':' && startsRecord(buffer, i, to);
            case '[' -> last != ':';
            default -> buffer[i] == ']';
        };
    }

    /** Returns whether a brace is followed, on its line or the next one, by the first member of a record. */
    private static boolean startsRecord(byte[] buffer, int brace, int to) {
        int i = ByteText.skipBlanks(buffer, brace + 1, Math.min(to, brace + MAX_BLANKS));
        return i == to
                || ByteText.startsWith(buffer, i, to, QUOTED_FIRST_MEMBER)
                || ByteText.startsWith(buffer, i, to, QUOTED_CLASS);
    }

    private boolean isArray() {
        return depth <= MAX_DEPTH && (arrays >>> depth & 1) == 1;
    }

    private void structure(byte b) {
        last = b;
        switch (b) {
            case '"' -> inString = true;
            case '{', '[' -> {
                depth++;
                if (depth <= MAX_DEPTH) {
                    long bit = 1L << depth;
                    arrays = b == '[' ? arrays | bit : arrays & ~bit;
                }
            }
            case '}', ']' -> depth--;
            default -> {}
        }
    }

    private static int withSeparator(byte[] buffer, int after, int to) {
        int i = after;
        while (i < to && (buffer[i] == ' ' || buffer[i] == '\t')) {
            i++;
        }
        int end = i < to && buffer[i] == ',' ? i + 1 : after;
        return XmlScanner.throughBlanks(buffer, end, to);
    }

    @Override
    public int next() {
        return next;
    }

    @Override
    public int stateBytes() {
        return Integer.BYTES + Long.BYTES + 2;
    }

    @Override
    public void save(ByteBuffer out) {
        out.putInt(depth).putLong(arrays).put((byte) (inString ? 1 : 0)).put(last);
    }

    @Override
    public void restore(ByteBuffer in) {
        depth = in.getInt();
        arrays = in.getLong();
        inString = in.get() != 0;
        last = in.get();
    }
}
