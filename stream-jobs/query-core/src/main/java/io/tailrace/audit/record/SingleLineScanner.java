package io.tailrace.audit.record;

import io.tailrace.lexer.ByteText;
import java.nio.ByteBuffer;

/**
 * Takes every line as a record, but for a line that holds another record's start: a crash cut the first one, and the
 * server went on behind it. Writers of JSON escape quotation marks, so the start can stand in no string.
 */
public final class SingleLineScanner implements RecordScanner {

    private final byte[] start;
    private int next;

    /** @param start how a record starts, such as <code>{"audit_record":</code> */
    public SingleLineScanner(String start) {
        this.start = ByteText.ascii(start);
    }

    @Override
    public Found outside(byte[] buffer, int lineFrom, int at, int to, boolean searching) {
        int first = ByteText.skipBlanks(buffer, at, to);
        boolean blank = first == to;
        next = blank ? to : first + 1;
        return blank ? Found.BLANK : Found.RECORD;
    }

    @Override
    public Ended inside(byte[] buffer, int lineFrom, int at, int to) {
        int another = ByteText.indexOf(buffer, at, to, start);
        next = another < 0 ? to : another;
        return another < 0 ? Ended.RECORD : Ended.BROKEN_OFF;
    }

    @Override
    public int next() {
        return next;
    }

    @Override
    public void reset() {
        // A line knows nothing of the one before.
    }

    @Override
    public int stateBytes() {
        return 0;
    }

    @Override
    public void save(ByteBuffer out) {
        // See stateBytes.
    }

    @Override
    public void restore(ByteBuffer in) {
        // See stateBytes.
    }
}
