package io.tailrace.audit.percona;

import io.tailrace.audit.record.RecordScanner;
import io.tailrace.lexer.ByteText;
import java.nio.ByteBuffer;

/**
 * Finds the records of Percona's {@code audit_log_format=CSV}: {@code "Query","12_2026-11-21T02:50:36",…}. A
 * quotation mark within a field is doubled and line feeds are not escaped, so a record continues while a field is
 * open. The start of a record cannot occur in a field, so it proves that a crash cut off the current record.
 */
public final class CsvScanner implements RecordScanner {

    private boolean quoted;
    private int next;

    @Override
    public Found outside(byte[] buffer, int lineFrom, int at, int to, boolean searching) {
        next = to;
        if (ByteText.skipBlanks(buffer, at, to) == to) {
            return Found.BLANK;
        }
        if (startsRecord(buffer, at, to)) {
            quoted = false;
            next = at;
            return Found.RECORD;
        }
        return Found.STRAY;
    }

    /**
     * Returns whether the range starts with {@code "Name","digits_}, which a field cannot contain because its
     * quotation marks are doubled.
     */
    public static boolean startsRecord(byte[] buffer, int from, int to) {
        if (from >= to || buffer[from] != '"') {
            return false;
        }
        int i = from + 1;
        while (i < to && (buffer[i] == ' ' || ByteText.lower(buffer[i]) >= 'a' && ByteText.lower(buffer[i]) <= 'z')) {
            i++;
        }
        boolean named = i > from + 1 && i + 3 < to && buffer[i] == '"' && buffer[i + 1] == ',' && buffer[i + 2] == '"';
        int number = i + 3;
        i = number;
        while (named && i < to && ByteText.isDigit(buffer[i])) {
            i++;
        }
        return named && i > number && i < to && buffer[i] == '_';
    }

    @Override
    public Ended inside(byte[] buffer, int lineFrom, int at, int to) {
        int i = at;
        while (i < to) {
            if (buffer[i] != '"') {
                i++;
            } else if (!quoted) {
                quoted = true;
                i++;
            } else if (i + 1 < to && buffer[i + 1] == '"') {
                i += 2;
            } else if (startsRecord(buffer, i, to)) {
                next = i;
                return Ended.BROKEN_OFF;
            } else {
                quoted = false;
                i++;
            }
        }
        next = to;
        return quoted ? Ended.NOT_YET : Ended.RECORD;
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
        out.put((byte) (quoted ? 1 : 0));
    }

    @Override
    public void restore(ByteBuffer in) {
        quoted = in.get() != 0;
    }
}
