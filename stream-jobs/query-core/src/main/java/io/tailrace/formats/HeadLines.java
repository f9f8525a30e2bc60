package io.tailrace.formats;

import io.tailrace.lexer.ByteText;

/** Judges the first lines of a file. */
enum HeadLines {
    SLOW_LOG,
    MARIADB_AUDIT,
    PERCONA_JSON,
    UNKNOWN;

    private static final byte[] JSON = ByteText.ascii("{\"audit_record\":");
    private static final byte[] TIME = ByteText.ascii("# Time:");
    private static final byte[] USER = ByteText.ascii("# User@Host:");
    private static final byte[] BANNER = ByteText.ascii("started with:");
    private static final byte[] VERSION = ByteText.ascii(", Version: ");

    /** The format of the first line that tells one. */
    static HeadLines first(byte[] head) {
        int from = 0;
        while (from < head.length) {
            int next = ByteText.lineFeed(head, from, head.length) + 1;
            HeadLines format = of(head, from, ByteText.withoutLineEnd(head, from, Math.min(next, head.length)));
            if (format != UNKNOWN) {
                return format;
            }
            from = next;
        }
        return UNKNOWN;
    }

    private static HeadLines of(byte[] head, int from, int to) {
        if (isSlowLogTime(head, from, to) || ByteText.startsWith(head, from, to, USER)) {
            return SLOW_LOG;
        }
        boolean banner = ByteText.endsWith(head, from, to, BANNER);
        if (banner && ByteText.indexOf(head, from, to, VERSION) >= 0) {
            return SLOW_LOG;
        }
        if (ByteText.startsWith(head, from, to, JSON)) {
            return PERCONA_JSON;
        }
        return isMariaDbTime(head, from, to) ? MARIADB_AUDIT : UNKNOWN;
    }

    /** {@code # Time: 2}: other logs quote statements that hold a number sign and the word. */
    private static boolean isSlowLogTime(byte[] head, int from, int to) {
        if (!ByteText.startsWith(head, from, to, TIME)) {
            return false;
        }
        int value = ByteText.skipBlanks(head, from + TIME.length, to);
        return value < to && ByteText.isDigit(head[value]);
    }

    /** {@code 20261121 02:44:18,}. */
    private static boolean isMariaDbTime(byte[] head, int from, int to) {
        if (to - from < 18 || head[from + 8] != ' ' || head[from + 17] != ',') {
            return false;
        }
        return ByteText.unsigned(head, from, from + 8) >= 0
                && head[from + 11] == ':'
                && head[from + 14] == ':'
                && ByteText.unsigned(head, from + 9, from + 11) >= 0;
    }
}
