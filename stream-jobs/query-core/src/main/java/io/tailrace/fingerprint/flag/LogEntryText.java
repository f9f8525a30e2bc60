package io.tailrace.fingerprint.flag;

import io.tailrace.lexer.ByteText;

/**
 * Detects lines of a statement that begin like entries of a log. In a log that writes statements as they are, such a line
 * is read as an entry of its own by tools that know no quotes: {@link io.tailrace.flag.EventFlag#LOG_ENTRY_IN_TEXT}.
 */
public final class LogEntryText {

    private static final byte[][] BEGINNINGS = {
        ByteText.ascii("# Time: "),
        ByteText.ascii("# User@Host: "),
        ByteText.ascii("# Query_time: "),
        ByteText.ascii("{\"audit_record\":"),
        ByteText.ascii("{\"msg-type\":"),
        ByteText.ascii("<AUDIT_RECORD")
    };

    /** 0 stands for a digit. */
    private static final byte[] AUDIT = ByteText.ascii("00000000 00:00:00,");

    private static final byte[] TIME = ByteText.ascii("0000-00-00T00:00:00");
    /** Of MariaDB's general log; the hour may have one digit. */
    private static final byte[] SHORT_TIME = ByteText.ascii("000000 ");
    /** Of MariaDB's error log; the hour may have one digit. */
    private static final byte[] DATE = ByteText.ascii("0000-00-00 ");

    private static final byte[] CLOCK = ByteText.ascii(":00:00");

    private LogEntryText() {}

    /** Returns whether a line other than the first begins like an entry. */
    public static boolean isIn(byte[] bytes, int from, int to) {
        int line = ByteText.lineFeed(bytes, from, to);
        while (line < to) {
            if (isEntry(bytes, line + 1, to)) {
                return true;
            }
            line = ByteText.lineFeed(bytes, line + 1, to);
        }
        return false;
    }

    private static boolean isEntry(byte[] bytes, int line, int to) {
        for (byte[] beginning : BEGINNINGS) {
            if (fits(bytes, line, to, beginning)) {
                return true;
            }
        }
        return fits(bytes, line, to, AUDIT)
                || fits(bytes, line, to, TIME) && hasThread(bytes, line + TIME.length, to)
                || isOfMariaDb(bytes, line, to);
    }

    /** MariaDB writes local times: {@code 260701 10:00:00}, tab, thread, and {@code 2026-07-01 10:00:00 9 [Note]}. */
    private static boolean isOfMariaDb(byte[] bytes, int line, int to) {
        boolean general = fits(bytes, line, to, SHORT_TIME);
        if (!general && !fits(bytes, line, to, DATE)) {
            return false;
        }
        int clock = ByteText.skipBlanks(bytes, line + (general ? SHORT_TIME : DATE).length, to);
        clock += clock + 1 < to && ByteText.isDigit(bytes[clock]) && ByteText.isDigit(bytes[clock + 1]) ? 2 : 1;
        int after = clock + CLOCK.length;
        if (!fits(bytes, clock, to, CLOCK) || after >= to) {
            return false;
        }
        int thread = ByteText.skipBlanks(bytes, after, to);
        int end = thread;
        while (end < to && ByteText.isDigit(bytes[end])) {
            end++;
        }
        boolean precedes = thread > after && end > thread && end + 1 < to && bytes[end] == ' ';
        return precedes && (general ? bytes[after] == '\t' : bytes[end + 1] == '[');
    }

    private static boolean fits(byte[] bytes, int line, int to, byte[] form) {
        if (line + form.length > to) {
            return false;
        }
        for (int i = 0; i < form.length; i++) {
            byte found = bytes[line + i];
            if (form[i] == '0' ? found < '0' || found > '9' : found != form[i]) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether a fraction, a time zone, blanks and a number follow: {@code .000000Z     9 Query}. */
    private static boolean hasThread(byte[] bytes, int at, int to) {
        int i = at;
        while (i < to && ".0123456789Z+:-".indexOf(bytes[i]) >= 0) {
            i++;
        }
        int blanks = i;
        while (i < to && (bytes[i] == ' ' || bytes[i] == '\t')) {
            i++;
        }
        return i > at && i > blanks && i < to && bytes[i] >= '0' && bytes[i] <= '9';
    }
}
