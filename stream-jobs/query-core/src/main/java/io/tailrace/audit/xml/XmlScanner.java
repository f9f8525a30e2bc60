package io.tailrace.audit.xml;

import io.tailrace.audit.record.RecordScanner;
import io.tailrace.lexer.ByteText;
import java.nio.ByteBuffer;

/**
 * Finds {@code <AUDIT_RECORD …/>} (old style) and {@code <AUDIT_RECORD>…</AUDIT_RECORD>} (new style). All writers
 * escape {@code <} and {@code >} in values, so an unescaped tag is always a tag. Within a record it proves that a
 * crash cut the record off.
 */
public final class XmlScanner implements RecordScanner {

    private static final byte[] RECORD = ByteText.ascii("<AUDIT_RECORD");
    private static final byte[] RECORD_END = ByteText.ascii("</AUDIT_RECORD>");
    private static final byte[] DECLARATION = ByteText.ascii("<?xml");
    private static final byte[] ROOT = ByteText.ascii("<AUDIT>");
    private static final byte[] ROOT_END = ByteText.ascii("</AUDIT>");
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};
    private static final byte[] EMPTY_END = ByteText.ascii("/>");

    /** The position of the next byte within a record. */
    private static final byte TAG = 0;

    private static final byte QUOTED = 1;
    private static final byte CONTENT = 2;

    private byte state;
    private int next;

    @Override
    public Found outside(byte[] buffer, int lineFrom, int at, int to, boolean searching) {
        int i = ByteText.skipBlanks(buffer, at, to);
        if (i == to) {
            next = to;
            return Found.BLANK;
        }
        if (isRecord(buffer, i, to)) {
            state = TAG;
            next = i + RECORD.length;
            return Found.RECORD;
        }
        int end = documentEnd(buffer, i, to);
        if (end > i) {
            next = throughBlanks(buffer, end, to);
            return Found.DOCUMENT;
        }
        next = nextTag(buffer, i + 1, to);
        return Found.STRAY;
    }

    private static boolean isRecord(byte[] buffer, int i, int to) {
        if (!ByteText.startsWith(buffer, i, to, RECORD)) {
            return false;
        }
        int after = i + RECORD.length;
        return after == to || buffer[after] == '>' || buffer[after] == '/' || ByteText.isBlank(buffer[after]);
    }

    /** Returns the index after a declaration or a tag of the root, or {@code i} if there is none. */
    private static int documentEnd(byte[] buffer, int i, int to) {
        if (ByteText.startsWith(buffer, i, to, BYTE_ORDER_MARK)) {
            return i + BYTE_ORDER_MARK.length;
        }
        if (ByteText.startsWith(buffer, i, to, DECLARATION)) {
            int close = i;
            while (close < to && buffer[close] != '>') {
                close++;
            }
            return Math.min(close + 1, to);
        }
        if (ByteText.startsWith(buffer, i, to, ROOT)) {
            return i + ROOT.length;
        }
        return ByteText.startsWith(buffer, i, to, ROOT_END) ? i + ROOT_END.length : i;
    }

    /** Returns the line's end if only blanks precede it, otherwise {@code at}. */
    public static int throughBlanks(byte[] buffer, int at, int to) {
        return ByteText.skipBlanks(buffer, at, to) == to ? to : at;
    }

    private static int nextTag(byte[] buffer, int from, int to) {
        int i = from;
        while (i < to && !isTag(buffer, i, to)) {
            i++;
        }
        return i;
    }

    private static boolean isTag(byte[] buffer, int i, int to) {
        return buffer[i] == '<' && (isRecord(buffer, i, to) || documentEnd(buffer, i, to) > i);
    }

    @Override
    public Ended inside(byte[] buffer, int lineFrom, int at, int to) {
        if (state == QUOTED && isEndAlone(buffer, lineFrom, to)) {
            return ended(buffer, to, to);
        }
        for (int i = at; i < to; i++) {
            byte b = buffer[i];
            if (b == '<') {
                if (isTag(buffer, i, to)) {
                    next = i;
                    return Ended.BROKEN_OFF;
                }
                if (state == CONTENT && ByteText.startsWith(buffer, i, to, RECORD_END)) {
                    return ended(buffer, i + RECORD_END.length, to);
                }
            } else if (b == '"' && state != CONTENT) {
                state = state == TAG ? QUOTED : TAG;
            } else if (b == '>' && state == TAG) {
                if (i > lineFrom && buffer[i - 1] == '/') {
                    return ended(buffer, i + 1, to);
                }
                state = CONTENT;
            }
        }
        next = to;
        return Ended.NOT_YET;
    }

    /**
     * Returns whether the line consists of the end of a record. The plugin does not escape STARTUP_OPTIONS, so a
     * quotation mark in them makes the number of quotes odd; such a line ends the record nevertheless.
     */
    private static boolean isEndAlone(byte[] buffer, int lineFrom, int to) {
        int from = ByteText.skipBlanks(buffer, lineFrom, to);
        return ByteText.trimBlanks(buffer, from, to) - from == EMPTY_END.length
                && ByteText.startsWith(buffer, from, to, EMPTY_END);
    }

    private Ended ended(byte[] buffer, int after, int to) {
        next = throughBlanks(buffer, after, to);
        return Ended.RECORD;
    }

    @Override
    public int next() {
        return next;
    }

    @Override
    public int stateBytes() {
        return 1;
    }

    @Override
    public void save(ByteBuffer out) {
        out.put(state);
    }

    @Override
    public void restore(ByteBuffer in) {
        state = in.get();
    }
}
