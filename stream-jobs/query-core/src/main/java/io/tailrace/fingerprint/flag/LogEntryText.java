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
        ByteText.ascii("<AUDIT_RECORD"),
        // 0 stands for a digit.
        ByteText.ascii("00000000 00:00:00,"),
        ByteText.ascii("{ \"timestamp\": \"0000-00-00 00:00:00\", \"id\": 0"),
        ByteText.ascii("{\"timestamp\": \"0000-00-00 00:00:00\", \"id\": 0")
    };

    private static final byte[] MICROS = ByteText.ascii("0000000000000000,");
    /** After the time of a system log: the daemon's tag of an audit plugin is its second word and contains this. */
    private static final byte[] AUDIT = ByteText.ascii("audit");

    private static final byte[] SYSLOG_CLOCK = ByteText.ascii("00:00:00 ");
    private static final int MONTH_AND_DAY = "Jan  2 ".length();
    private static final int MAX_PRIORITY = "<190>1 ".length();

    /** Bytes of a line that are searched for its operation or tag. */
    private static final int MAX_HEAD = 512;

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
        boolean time = fits(bytes, line, to, TIME);
        return time && hasThread(bytes, line + TIME.length, to)
                || fits(bytes, line, to, MICROS) && hasOperation(bytes, line, to)
                || isCsv(bytes, line, to)
                || isSyslog(bytes, line, to)
                || isOfMariaDb(bytes, line, to);
    }

    /** Returns whether the line contains {@code ,4,1,QUERY,}, as Aurora's lines do, which begin with microseconds. */
    private static boolean hasOperation(byte[] bytes, int line, int to) {
        int end = ByteText.lineFeed(bytes, line, Math.min(to, line + MAX_HEAD));
        int numbers = 0;
        int from = line;
        for (int i = line; i < end; i++) {
            if (bytes[i] == ',') {
                if (numbers >= 2 && isUpper(bytes, from, i)) {
                    return true;
                }
                numbers = ByteText.unsigned(bytes, from, i) >= 0 ? numbers + 1 : 0;
                from = i + 1;
            }
        }
        return false;
    }

    private static boolean isUpper(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            if (bytes[i] != '_' && (bytes[i] < 'A' || bytes[i] > 'Z')) {
                return false;
            }
        }
        return to > from;
    }

    /** Returns whether the line begins with {@code "Query","4_}. */
    private static boolean isCsv(byte[] bytes, int line, int to) {
        int name = afterQuote(bytes, line, to);
        if (name == line) {
            return false;
        }
        int i = name;
        while (i < to && (bytes[i] == ' ' || ByteText.lower(bytes[i]) >= 'a' && ByteText.lower(bytes[i]) <= 'z')) {
            i++;
        }
        int comma = afterQuote(bytes, i, to);
        boolean named = i > name && comma > i && comma < to && bytes[comma] == ',';
        int number = named ? afterQuote(bytes, comma + 1, to) : to;
        i = number;
        while (i < to && ByteText.isDigit(bytes[i])) {
            i++;
        }
        return i > number && number > comma + 1 && i < to && bytes[i] == '_';
    }

    /** Returns whether a system log's time, host and the tag of an audit plugin begin the line. */
    private static boolean isSyslog(byte[] bytes, int line, int to) {
        int from = line;
        if (line < to && bytes[line] == '<') {
            int close = ByteText.indexOf(bytes, line, Math.min(to, line + MAX_PRIORITY), ByteText.ascii(">"));
            from = close < 0 ? line : close + 1;
            from += from + 1 < to && bytes[from] == '1' && bytes[from + 1] == ' ' ? 2 : 0;
        }
        int clock = from + MONTH_AND_DAY;
        boolean old = clock <= to && bytes[from + 3] == ' ' && fits(bytes, clock, to, SYSLOG_CLOCK);
        if (!old && !fits(bytes, from, to, TIME)) {
            return false;
        }
        int end = ByteText.lineFeed(bytes, from, Math.min(to, from + MAX_HEAD));
        int i = old ? clock + SYSLOG_CLOCK.length - 1 : wordEnd(bytes, from, end);
        for (int word = 0; word < 2; word++) {
            int start = ByteText.skipBlanks(bytes, i, end);
            i = wordEnd(bytes, start, end);
            if (word == 1 && ByteText.indexOf(bytes, start, i, AUDIT) >= 0) {
                return true;
            }
        }
        return false;
    }

    private static int wordEnd(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && !ByteText.isBlank(bytes[i])) {
            i++;
        }
        return i;
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

    /** Returns whether the line begins like the form. A quotation mark may be escaped, as within a literal. */
    private static boolean fits(byte[] bytes, int line, int to, byte[] form) {
        int i = line;
        for (byte expected : form) {
            if (expected == '"') {
                int after = afterQuote(bytes, i, to);
                if (after == i) {
                    return false;
                }
                i = after;
            } else if (i >= to || (expected == '0' ? !ByteText.isDigit(bytes[i]) : bytes[i] != expected)) {
                return false;
            } else {
                i++;
            }
        }
        return true;
    }

    /** Returns the index after {@code "}, {@code ""} or {@code \\"}, or {@code from} if there is none. */
    private static int afterQuote(byte[] bytes, int from, int to) {
        int mark = from + 1 < to && (bytes[from] == '\\' || bytes[from] == '"') && bytes[from + 1] == '"'
                ? from + 1
                : from;
        return mark < to && bytes[mark] == '"' ? mark + 1 : from;
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
