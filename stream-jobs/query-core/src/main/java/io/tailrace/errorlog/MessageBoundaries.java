package io.tailrace.errorlog;

import io.tailrace.lexer.ByteText;

/**
 * Determines from a message's own bytes where it ends. The decisive words must be in a line's first {@link
 * #CLASSIFIED_WITHIN} bytes, because later text may be from a client.
 */
final class MessageBoundaries {

    /** Servers write at most a few hundred bytes of their own, and an error's text, before what they quote. Bytes. */
    static final int CLASSIFIED_WITHIN = 64 << 10;

    private static final byte[] INNODB = ByteText.ascii("InnoDB:");
    private static final byte[] STARS = ByteText.ascii("***");
    private static final byte[] DEADLOCK = ByteText.ascii("eadlock detected, dumping detailed information");
    private static final byte[] ROLL_BACK = ByteText.ascii("*** WE ROLL BACK TRANSACTION");
    private static final byte[] SIGNAL = ByteText.ascii(" got signal ");
    private static final byte[] EXCEPTION = ByteText.ascii(" got exception 0x");
    private static final byte[] ASSERTION = ByteText.ascii("Assertion failure");
    private static final byte[] ASSERTION_OF_8 = ByteText.ascii("Assertion ");
    private static final byte[] ACCESS_DENIED = ByteText.ascii("Access denied for user ");
    private static final byte[] ABORTED = ByteText.ascii("Abort");
    private static final byte[] CONNECTION = ByteText.ascii(" connection ");
    private static final byte[] USED = ByteText.ascii("(using password: YES)");
    private static final byte[] UNUSED = ByteText.ascii("(using password: NO)");
    private static final byte[] CODED = ByteText.ascii("MY-");
    private static final byte[] GALERA = ByteText.ascii("Galera");
    private static final byte[] GALERA_SERVER = ByteText.ascii("WSREP");
    private static final byte[] MONITOR = ByteText.ascii(" INNODB MONITOR OUTPUT");

    private static final byte[] SLAVE = ByteText.ascii("lave ");
    private static final byte[] REPLICA = ByteText.ascii("eplica ");
    private static final byte[] AFTER_GTID = ByteText.ascii(", Internal MariaDB error code: ");

    /** Marks after which a message quotes a statement. A quotation mark may follow the last one. */
    private static final byte[][] QUOTES = {
        ByteText.ascii(" Query: "),
        ByteText.ascii(" query: "),
        ByteText.ascii("Statement: "),
        ByteText.ascii(" statement: "),
        ByteText.ascii("WSREP: Query ("),
        ByteText.ascii("WSREP: Executing Query ("),
        ByteText.ascii("WSREP: Completed query ("),
        ByteText.ascii("SQL: "),
        ByteText.ascii("SQL1: "),
        ByteText.ascii("SQL2: "),
        ByteText.ascii(" query '"),
        ByteText.ascii(" statement '"),
    };

    /** What follows a quoted statement, from its closing quotation mark to the number that ends the line. */
    private static final byte[][] TAILS = {
        ByteText.ascii("', Error_code: MY-"), ByteText.ascii("', Error_code: "),
        ByteText.ascii("', Internal MariaDB error code: "), ByteText.ascii("', Gtid "),
    };

    private MessageBoundaries() {}

    /**
     * Returns the index of text that only the server writes after a quoted statement, at its quotation mark, if the
     * range ends with it; otherwise -1.
     */
    static int tail(byte[] bytes, int from, int to) {
        int end = ByteText.trimBlanks(bytes, from, to);
        for (byte[] text : TAILS) {
            int at = ByteText.lastIndexOf(bytes, Math.max(from, end - 120), end, text);
            if (at >= 0 && isTail(bytes, at + text.length, end)) {
                return at;
            }
        }
        return -1;
    }

    /** Returns whether the range is {@code 1062} or MariaDB's {@code 0-1-5, Internal MariaDB error code: 1062}. */
    private static boolean isTail(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && (ByteText.isDigit(bytes[i]) || bytes[i] == '-')) {
            i++;
        }
        return i > from
                && (i == to
                        || ByteText.startsWith(bytes, i, to, AFTER_GTID)
                                && ByteText.unsigned(bytes, i + AFTER_GTID.length, to) >= 0);
    }

    /** Skips {@code InnoDB:} and blanks; versions of the server differ in the blanks around it. */
    static int withoutPrefix(byte[] bytes, int from, int to) {
        int i = ByteText.skipBlanks(bytes, from, to);
        return ByteText.startsWith(bytes, i, to, INNODB) ? ByteText.skipBlanks(bytes, i + INNODB.length, to) : i;
    }

    private static boolean classifies(byte[] bytes, int from, int to, byte[] words) {
        return ByteText.indexOf(bytes, from, classifiedUntil(from, to), words) >= 0;
    }

    private static int classifiedUntil(int from, int to) {
        return Math.min(to, from + CLASSIFIED_WITHIN);
    }

    static boolean startsDeadlock(byte[] bytes, ErrorLine line) {
        return classifies(bytes, line.messageFrom, line.messageTo, DEADLOCK)
                || ByteText.startsWith(
                        bytes, withoutPrefix(bytes, line.messageFrom, line.messageTo), line.messageTo, STARS);
    }

    /** Returns whether a line with a separate header continues a deadlock's report. */
    static boolean continuesDeadlock(byte[] bytes, ErrorLine line) {
        int i = withoutPrefix(bytes, line.messageFrom, line.messageTo);
        return i == line.messageTo || ByteText.startsWith(bytes, i, line.messageTo, STARS);
    }

    static boolean endsDeadlock(byte[] bytes, int from, int to) {
        return ByteText.startsWith(bytes, withoutPrefix(bytes, from, to), to, ROLL_BACK);
    }

    static boolean startsCrash(byte[] bytes, int from, int to) {
        return classifies(bytes, from, to, SIGNAL) || classifies(bytes, from, to, EXCEPTION);
    }

    static boolean isAssertion(byte[] bytes, int from, int to) {
        return classifies(bytes, from, to, ASSERTION) || classifies(bytes, from, to, ASSERTION_OF_8);
    }

    static boolean isMonitorHeader(byte[] bytes, int from, int to) {
        return ByteText.endsWith(bytes, from, ByteText.trimBlanks(bytes, from, to), MONITOR);
    }

    /**
     * Returns whether the message has only one line, so that it need not wait for the next line. MySQL 8.0 and later
     * replace line feeds within a message by blanks; Galera's messages have lines without a header.
     */
    static boolean isWhole(byte[] bytes, ErrorLine line) {
        if (ByteText.startsWith(bytes, line.codeFrom, line.codeTo, CODED)) {
            return !ByteText.startsWith(bytes, line.subsystemFrom, line.subsystemTo, GALERA)
                    && !ByteText.startsWith(bytes, line.subsystemFrom, line.subsystemTo, GALERA_SERVER)
                    && !isAssertion(bytes, line.messageFrom, line.messageTo);
        }
        int from = line.messageFrom;
        int to = ByteText.trimBlanks(bytes, from, line.messageTo);
        if (ByteText.startsWith(bytes, from, to, ACCESS_DENIED)) {
            return ByteText.endsWith(bytes, from, to, USED) || ByteText.endsWith(bytes, from, to, UNUSED);
        }
        return ByteText.startsWith(bytes, from, to, ABORTED)
                && bytes[to - 1] == ')'
                && ByteText.indexOf(bytes, from, to, CONNECTION) > 0;
    }

    /** Returns whether the range is a thread's name: {@code Slave SQL: } or {@code Replica SQL: }. */
    private static boolean isThread(byte[] bytes, int from, int to) {
        return ByteText.endsWith(bytes, from, to, SLAVE) || ByteText.endsWith(bytes, from, to, REPLICA);
    }

    /**
     * Returns the index of the first statement that a message quotes, at its quotation mark if it has one; {@code to}
     * if there is none.
     */
    static int quotedStatement(byte[] bytes, int from, int to) {
        int until = classifiedUntil(from, to);
        int first = until;
        for (byte[] mark : QUOTES) {
            int at = mark(bytes, from, first, mark);
            if (at >= 0) {
                int end = at + mark.length;
                first = mark[mark.length - 1] == '\'' ? end - 1 : end;
            }
        }
        return first == until ? to : first;
    }

    /** Returns the index of the first mark that is not a thread's name, or -1. */
    private static int mark(byte[] bytes, int from, int to, byte[] mark) {
        int at = ByteText.indexOf(bytes, from, to, mark);
        while (at >= 0 && isThread(bytes, from, at)) {
            at = ByteText.indexOf(bytes, at + mark.length, to, mark);
        }
        return at;
    }
}
