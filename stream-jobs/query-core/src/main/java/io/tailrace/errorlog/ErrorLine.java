package io.tailrace.errorlog;

import io.tailrace.lexer.ByteText;
import io.tailrace.time.LogTime;

/**
 * Reads what precedes the message on the first line of an error log's entry. Not thread-safe.
 *
 * <pre>
 * 2026-11-21T02:49:00.058Z 8 [Warning] [MY-010101] [Server] message     MySQL 8.0 and later, XtraBackup 8
 * 2026-11-21T02:51:07.023167Z 0 [Warning] message                       MySQL 5.7
 * 2026-11-21  2:44:21 0 [Note] message                                  MariaDB 10.1 and later, MySQL 5.6
 * 261121  3:00:16 [Note] message                                        older
 * 091119 22:27:11InnoDB: message                                        InnoDB in MySQL 5.0
 * 02:51:07 UTC - mysqld got signal 11 ;                                 a crash of 5.5 to 5.7: no date
 * { "prio" : 2, "err_code" : 10101, …, "time" : "…" }                   JSON sink of MySQL 8.0
 * {"log":"2026-11-21T02:49:00.058Z 8 [Warning] …\n","file":"…"}         the same lines from a container's log
 * </pre>
 */
final class ErrorLine {

    enum Form {
        /** Starts no entry. */
        NONE,
        TEXT,
        /** A crash with the time of day only. */
        TIME_OF_DAY,
        JSON,
        /** A JSON object that contains a whole line of text. */
        WRAPPED
    }

    private static final byte[] WRAPPER = ByteText.ascii("{\"log\":\"");
    private static final byte[] CODE = ByteText.ascii("\"err_code\"");
    private static final byte[] PRIORITY = ByteText.ascii("\"prio\"");
    private static final byte[] JSON_TIME = ByteText.ascii("\"time\"");
    private static final byte[] CRASH = ByteText.ascii(" UTC - ");
    private static final byte[] MY = ByteText.ascii("[MY-");
    private static final byte[] INNODB = ByteText.ascii("InnoDB:");
    private static final byte[] WSREP = ByteText.ascii("WSREP:");

    Form form;
    /** The time, also of a JSON line; empty for {@link Form#NONE}. */
    int timeFrom;

    int timeTo;
    int threadFrom;
    int threadTo;
    int levelFrom;
    int levelTo;
    /** {@code MY-010101}. */
    int codeFrom;

    int codeTo;
    int subsystemFrom;
    int subsystemTo;
    int messageFrom;
    int messageTo;

    /** Reads a line without its line end; returns false if no entry can start with it. */
    boolean read(byte[] bytes, int from, int to) {
        clear(from, to);
        if (from < to && bytes[from] == '{') {
            json(bytes, from, to);
        } else {
            // Galera's log of a state transfer indents XtraBackup's lines by one tab.
            text(bytes, from < to && bytes[from] == '\t' ? from + 1 : from, to);
        }
        return form != Form.NONE;
    }

    private void clear(int from, int to) {
        form = Form.NONE;
        timeFrom = timeTo = threadFrom = threadTo = levelFrom = levelTo = from;
        codeFrom = codeTo = subsystemFrom = subsystemTo = messageFrom = from;
        messageTo = to;
    }

    private void json(byte[] bytes, int from, int to) {
        if (ByteText.startsWith(bytes, from, to, WRAPPER)) {
            int inner = from + WRAPPER.length;
            int end = LogTime.end(bytes, inner, to);
            if (end > 0) {
                form = Form.WRAPPED;
                timeFrom = inner;
                timeTo = end;
            }
            return;
        }
        int second = ByteText.skipBlanks(bytes, from + 1, to);
        boolean log = second < to
                && bytes[second] == '"'
                && bytes[to - 1] == '}'
                && (ByteText.indexOf(bytes, from, to, CODE) > 0 || ByteText.indexOf(bytes, from, to, PRIORITY) > 0);
        int key = log ? ByteText.indexOf(bytes, from, to, JSON_TIME) : -1;
        if (key > 0) {
            jsonTime(bytes, key + JSON_TIME.length, to);
        }
    }

    private void jsonTime(byte[] bytes, int afterKey, int to) {
        int value = afterKey;
        while (value < to && (bytes[value] == ' ' || bytes[value] == ':' || bytes[value] == '"')) {
            value++;
        }
        int end = LogTime.end(bytes, value, to);
        if (end > 0) {
            form = Form.JSON;
            timeFrom = value;
            timeTo = end;
        }
    }

    private void text(byte[] bytes, int from, int to) {
        int end = LogTime.end(bytes, from, to);
        if (end < 0) {
            timeOfDay(bytes, from, to);
            return;
        }
        form = Form.TEXT;
        timeFrom = from;
        timeTo = end;
        int i = thread(bytes, ByteText.skipBlanks(bytes, end, to), to);
        i = level(bytes, i, to);
        i = code(bytes, i, to);
        messageFrom = i;
        prefix(bytes, to);
    }

    /** Reads {@code 02:51:07 UTC - }. */
    private void timeOfDay(byte[] bytes, int from, int to) {
        boolean crash = to - from > 15
                && bytes[from + 2] == ':'
                && bytes[from + 5] == ':'
                && ByteText.unsigned(bytes, from, from + 2) >= 0
                && ByteText.startsWith(bytes, from + 8, to, CRASH);
        if (crash) {
            form = Form.TIME_OF_DAY;
            timeFrom = from;
            timeTo = from + 8;
            messageFrom = from + 8 + CRASH.length;
        }
    }

    /** Reads a decimal number, or InnoDB's hexadecimal one, that a blank and a level or {@code InnoDB:} follows. */
    private int thread(byte[] bytes, int from, int to) {
        int end = from;
        while (end < to && isHexadecimal(bytes[end])) {
            end++;
        }
        int next = ByteText.skipBlanks(bytes, end, to);
        boolean thread = end > from
                && next > end
                && next < to
                && (bytes[next] == '[' || ByteText.startsWith(bytes, next, to, INNODB));
        if (thread) {
            threadFrom = from;
            threadTo = end;
            return next;
        }
        return from;
    }

    private static boolean isHexadecimal(byte b) {
        return ByteText.isDigit(b) || b >= 'a' && b <= 'f' || b == 'x';
    }

    private int level(byte[] bytes, int from, int to) {
        int end = closing(bytes, from, to);
        if (end < 0 || !Levels.isLevel(bytes, from + 1, end)) {
            return from;
        }
        levelFrom = from + 1;
        levelTo = end;
        return ByteText.skipBlanks(bytes, end + 1, to);
    }

    private int code(byte[] bytes, int from, int to) {
        if (!ByteText.startsWith(bytes, from, to, MY)) {
            return from;
        }
        int end = closing(bytes, from, to);
        if (end < 0) {
            return from;
        }
        codeFrom = from + 1;
        codeTo = end;
        int next = ByteText.skipBlanks(bytes, end + 1, to);
        int close = closing(bytes, next, to);
        if (close < 0) {
            return next;
        }
        subsystemFrom = next + 1;
        subsystemTo = close;
        return Math.min(close + 2, to);
    }

    /** Returns the index of the {@code ]} that closes the bracket at {@code from}, at most 40 bytes away, or -1. */
    private static int closing(byte[] bytes, int from, int to) {
        if (from >= to || bytes[from] != '[') {
            return -1;
        }
        for (int i = from + 1; i < Math.min(to, from + 40); i++) {
            if (bytes[i] == ']') {
                return i;
            }
        }
        return -1;
    }

    /**
     * Sets the subsystem from {@code InnoDB: } and {@code WSREP: } in logs without codes; these prefixes remain in
     * the message.
     */
    private void prefix(byte[] bytes, int to) {
        byte[] name = ByteText.startsWith(bytes, messageFrom, to, INNODB)
                ? INNODB
                : ByteText.startsWith(bytes, messageFrom, to, WSREP) ? WSREP : null;
        if (name != null && codeTo == codeFrom) {
            subsystemFrom = messageFrom;
            subsystemTo = messageFrom + name.length - 1;
        }
    }
}
