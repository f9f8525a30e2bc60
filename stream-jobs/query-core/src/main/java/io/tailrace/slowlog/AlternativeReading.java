package io.tailrace.slowlog;

import io.tailrace.lexer.StatementScanner;

/**
 * The alternative reading of a header within a literal: the literal was never closed, the header is real, and entries
 * follow. In that reading a header must follow every complete statement, so one line of other text refutes it.
 */
final class AlternativeReading {

    private static final int NONE = 0;
    private static final int BETWEEN = 1;
    private static final int HEADERS = 2;
    private static final int STATEMENT = 3;

    private final StatementScanner scanner = new StatementScanner();
    private int state;

    void clear() {
        state = NONE;
        scanner.reset();
    }

    boolean isRead() {
        return state != NONE;
    }

    /** Returns whether an entry ends with the latest line. */
    boolean isBetween() {
        return state == BETWEEN;
    }

    /** Starts with the first line of an entry's statement. */
    void start(SlowLogLine line, byte[] bytes, int from, int to) {
        state = HEADERS;
        scanner.reset();
        statement(line, bytes, from, to);
    }

    /** Reads the next line; returns false if it refutes this reading. */
    boolean line(SlowLogLine line, byte[] bytes, int from, int to) {
        switch (state) {
            case BETWEEN -> {
                if (line.startsEntry()) {
                    state = HEADERS;
                    scanner.reset();
                } else if (line != SlowLogLine.BLANK && !line.isBanner()) {
                    return false;
                }
            }
            case HEADERS -> header(line, bytes, from, to);
            case STATEMENT -> statement(line, bytes, from, to);
            default -> {}
        }
        return true;
    }

    private void header(SlowLogLine line, byte[] bytes, int from, int to) {
        switch (line) {
            case TIME, USER, TIME_AND_USER, QUERY_TIME, HASH, USE -> {}
            case SET_TIMESTAMP -> state = STATEMENT;
            default -> statement(line, bytes, from, to);
        }
    }

    private void statement(SlowLogLine line, byte[] bytes, int from, int to) {
        if (line.startsEntry() && scanner.mayBeComplete()) {
            state = HEADERS;
            scanner.reset();
            return;
        }
        boolean command = line == SlowLogLine.ADMINISTRATOR_COMMAND && scanner.state() == 0;
        state = STATEMENT;
        scanner.line(bytes, from, to);
        if (command || scanner.complete()) {
            state = BETWEEN;
        }
    }

    /** Returns the state between two lines. */
    long state() {
        return (long) state << 32 | scanner.state() & 0xffff_ffffL;
    }

    void restore(long saved) {
        state = (int) (saved >>> 32);
        scanner.restore((int) saved);
    }
}
