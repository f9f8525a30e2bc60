package io.tailrace.generallog;

import io.tailrace.audit.record.ProtocolCommand;
import io.tailrace.lexer.ByteText;
import io.tailrace.time.LogTime;

/**
 * Reads the first line of a general log's entry. Not thread-safe.
 *
 * <pre>
 * 2026-11-21T02:49:03.496201Z\t    8 Query\tSELECT 1     MySQL 5.7 and later
 * 261121  2:44:26\t     4 Connect\troot@localhost on     older, MariaDB
 * \t\t     4 Query\tSELECT 1                             the same second
 * \t\t      4 Query       SELECT 1                       MySQL 5.0 and 5.1
 * </pre>
 */
final class GeneralLine {

    private static final byte[] BANNER = ByteText.ascii("started with:");
    private static final byte[] VERSION = ByteText.ascii(", Version: ");
    private static final byte[] PORT = ByteText.ascii("Tcp port: ");
    private static final byte[] TCP_PORT = ByteText.ascii("TCP Port: ");
    private static final byte[] COLUMNS = ByteText.ascii("Time ");
    private static final byte[] TABBED_COLUMNS = ByteText.ascii("Time\t");
    private static final byte[] ARGUMENT = ByteText.ascii("Argument");

    int timeFrom;
    int timeTo;
    long threadId;
    ProtocolCommand command;
    int argumentFrom;
    int argumentTo;

    /** Reads a line without its line end; returns false if no entry starts with it. */
    boolean read(byte[] bytes, int from, int to) {
        timeFrom = from;
        timeTo = from;
        int i;
        if (to - from > 2 && bytes[from] == '\t' && bytes[from + 1] == '\t') {
            i = from + 2;
        } else {
            i = LogTime.end(bytes, from, to);
            if (i < 0 || i >= to || bytes[i] != '\t') {
                return false;
            }
            timeTo = i++;
        }
        return command(bytes, i, to);
    }

    private boolean command(byte[] bytes, int from, int to) {
        int id = spaces(bytes, from, to);
        int end = id;
        while (end < to && ByteText.isDigit(bytes[end])) {
            end++;
        }
        threadId = ByteText.unsigned(bytes, id, end);
        if (threadId < 0 || end >= to || bytes[end] != ' ') {
            return false;
        }
        command = CommandNames.at(bytes, end + 1, to);
        if (command == null) {
            return false;
        }
        int after = end + 1 + command.wireName().length();
        argumentFrom = after < to && bytes[after] == '\t' ? after + 1 : spaces(bytes, after, to);
        argumentTo = to;
        return true;
    }

    private static int spaces(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && bytes[i] == ' ') {
            i++;
        }
        return i;
    }

    boolean hasTime() {
        return timeTo > timeFrom;
    }

    /**
     * Returns whether the line is the first one of the banner that a server writes when it starts or opens the log:
     * program, version.
     */
    static boolean isBanner(byte[] bytes, int from, int to) {
        return ByteText.endsWith(bytes, from, to, BANNER) && ByteText.indexOf(bytes, from, to, VERSION) >= 0;
    }

    /** Returns whether the line is one of the banner's remaining lines: port, column headings. */
    static boolean isBannerTail(byte[] bytes, int from, int to) {
        return ByteText.startsWith(bytes, from, to, PORT)
                || ByteText.startsWith(bytes, from, to, TCP_PORT)
                || (ByteText.startsWith(bytes, from, to, COLUMNS)
                                || ByteText.startsWith(bytes, from, to, TABBED_COLUMNS))
                        && ByteText.endsWith(bytes, from, ByteText.trimBlanks(bytes, from, to), ARGUMENT);
    }
}
