package io.tailrace.audit.record;

import io.tailrace.lexer.ByteText;
import java.nio.ByteBuffer;

/**
 * Treats every line as a record, unless it contains the start of another one: then a crash cut off the first record,
 * and the server continued after it. Writers of JSON escape quotation marks, so the start cannot occur in a string.
 */
public final class SingleLineScanner implements RecordScanner {

    private final byte[] start;
    private int next;

    /** @param start the bytes with which a record starts, such as <code>{"audit_record":</code> */
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
    public int stateBytes() {
        return 0;
    }

    @Override
    public void save(ByteBuffer out) {
        // There is no state.
    }

    @Override
    public void restore(ByteBuffer in) {
        // There is no state.
    }
}
