package io.tailrace.errorlog;

import io.tailrace.lexer.ByteText;

/**
 * What a message's own bytes say about where it ends. The words that tell stand in a line's first {@link #CLASSIFIED_WITHIN}
 * bytes, or nowhere: behind them is what a client has sent.
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

    /** Marks after which a message quotes a statement. The last one may be followed by a quote. */
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

    /** What follows a quoted statement, from its closing quote to the number that ends the line. */
    private static final byte[][] TAILS = {
        ByteText.ascii("', Error_code: MY-"), ByteText.ascii("', Error_code: "),
        ByteText.ascii("', Internal MariaDB error code: "), ByteText.ascii("', Gtid "),
    };

    private MessageBoundaries() {}

    /**
     * Index of the text that only the server writes behind a quoted statement, at its quote, where the range ends with
     * it; or -1.
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

    /** {@code 1062}, or of MariaDB {@code 0-1-5, Internal MariaDB error code: 1062}. */
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

    /** Index behind {@code InnoDB:} and blanks, at either end of which the server's versions differ. */
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

    /** A line with a header of its own that goes on with a deadlock's report. */
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
     * The message ends with its line: nobody has to wait for the next line to hear of it. MySQL 8.0 and later write
     * line feeds within a message as blanks; Galera's own messages have lines without a header.
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

    /** {@code Slave SQL: } and {@code Replica SQL: } are a thread's name. */
    private static boolean isThread(byte[] bytes, int from, int to) {
        return ByteText.endsWith(bytes, from, to, SLAVE) || ByteText.endsWith(bytes, from, to, REPLICA);
    }

    /** Index of the first statement that a message quotes, at its quote if it has one; {@code to} without. */
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

    /** Index of the first mark that is no thread's name, or -1. */
    private static int mark(byte[] bytes, int from, int to, byte[] mark) {
        int at = ByteText.indexOf(bytes, from, to, mark);
        while (at >= 0 && isThread(bytes, from, at)) {
            at = ByteText.indexOf(bytes, at + mark.length, to, mark);
        }
        return at;
    }
}
