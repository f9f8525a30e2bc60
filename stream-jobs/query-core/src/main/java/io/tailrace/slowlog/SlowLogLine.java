package io.tailrace.slowlog;

import io.tailrace.lexer.ByteText;

/**
 * Classifies a line of a slow log by its own text. Whether a line of a header's form is a header depends on its
 * position. The forms are those of MySQL 5.0 to 9.x, Percona Server and MariaDB ({@code sql/log.cc}).
 */
enum SlowLogLine {
    /** White space only. */
    BLANK,
    /** {@code # Time: …} with a time or nothing after it. */
    TIME,
    /** {@code # User@Host: …}. */
    USER,
    /** {@code # Time: … # User@Host: …} on one line, as Percona's tools print it. */
    TIME_AND_USER,
    /** {@code # Query_time: …}. */
    QUERY_TIME,
    /** {@code # administrator command: Quit;}. */
    ADMINISTRATOR_COMMAND,
    /** Any other line that starts with a number sign. */
    HASH,
    /** {@code use db;} or its first line, if the name contains a line feed. */
    USE,
    /** {@code SET timestamp=…;}, perhaps with last_insert_id and insert_id before it. */
    SET_TIMESTAMP,
    /** First line of the server's banner: {@code …, Version: … started with:}. */
    BANNER_VERSION,
    /** Second line of it: {@code Tcp port: …}. */
    BANNER_PORT,
    /** Third line of it: {@code Time Id Command Argument}, with blanks or tabs. */
    BANNER_HEADS,
    OTHER;

    private static final byte[] TIME_PREFIX = ByteText.ascii("# Time:");
    private static final int MIN_HEADER_LENGTH = TIME_PREFIX.length;
    private static final byte[] USER_PREFIX = ByteText.ascii("# User@Host:");
    private static final byte[] USER_WITHIN = ByteText.ascii(" # User@Host:");
    private static final byte[] QUERY_TIME_PREFIX = ByteText.ascii("# Query_time:");
    private static final byte[] ADMINISTRATOR_PREFIX = ByteText.ascii("# administrator command:");
    private static final byte[] USE_PREFIX = ByteText.ascii("use ");
    private static final byte[] SET_PREFIX = ByteText.ascii("set ");
    private static final byte[] TIMESTAMP_KEY = ByteText.ascii("timestamp");
    private static final byte[] LAST_INSERT_KEY = ByteText.ascii("last_insert_id");
    private static final byte[] INSERT_KEY = ByteText.ascii("insert_id");
    private static final byte[] VERSION_MARK = ByteText.ascii(", Version: ");
    private static final byte[] VERSION_END = ByteText.ascii("started with:");
    private static final byte[] PORT_PREFIX = ByteText.ascii("tcp port:");
    private static final byte[] HEADS_PREFIX = ByteText.ascii("Time");
    private static final byte[] HEADS_WITHIN = ByteText.ascii("Id Command");

    /** Returns whether the line starts an entry if it is outside of a statement. */
    boolean startsEntry() {
        return this == TIME || this == USER || this == TIME_AND_USER;
    }

    boolean isBanner() {
        return this == BANNER_VERSION || this == BANNER_PORT || this == BANNER_HEADS;
    }

    /** Classifies a line; {@code to} excludes its line end. */
    static SlowLogLine of(byte[] bytes, int from, int to) {
        if (from == to) {
            return BLANK;
        }
        SlowLogLine byStart =
                switch (bytes[from]) {
                    case '#' -> hash(bytes, from, to);
                    case 's', 'S' -> isSetTimestamp(bytes, from, to) ? SET_TIMESTAMP : OTHER;
                    case 'u', 'U' -> ByteText.startsWithIgnoreCase(bytes, from, to, USE_PREFIX) ? USE : OTHER;
                    case 't', 'T' -> bannerTail(bytes, from, to);
                    case ' ', '\t', '\r', '\f', 0x0b -> ByteText.skipBlanks(bytes, from, to) == to ? BLANK : OTHER;
                    default -> OTHER;
                };
        return byStart == OTHER && isBannerVersion(bytes, from, to) ? BANNER_VERSION : byStart;
    }

    private static SlowLogLine hash(byte[] bytes, int from, int to) {
        if (to - from < MIN_HEADER_LENGTH) {
            return HASH;
        }
        return switch (bytes[from + 2]) {
            case 'T' -> time(bytes, from, to);
            case 'U' -> ByteText.startsWith(bytes, from, to, USER_PREFIX) ? USER : HASH;
            case 'Q' -> ByteText.startsWith(bytes, from, to, QUERY_TIME_PREFIX) ? QUERY_TIME : HASH;
            case 'a' -> {
                boolean command = bytes[to - 1] == ';' && ByteText.startsWith(bytes, from, to, ADMINISTRATOR_PREFIX);
                yield command ? ADMINISTRATOR_COMMAND : HASH;
            }
            default -> HASH;
        };
    }

    private static SlowLogLine time(byte[] bytes, int from, int to) {
        if (!isTime(bytes, from, to)) {
            return HASH;
        }
        return ByteText.indexOf(bytes, from, to, USER_WITHIN) > 0 ? TIME_AND_USER : TIME;
    }

    private static boolean isTime(byte[] bytes, int from, int to) {
        if (!ByteText.startsWith(bytes, from, to, TIME_PREFIX)) {
            return false;
        }
        int value = ByteText.skipBlanks(bytes, from + TIME_PREFIX.length, to);
        return value == to || ByteText.isDigit(bytes[value]) || bytes[value] == '#';
    }

    private static boolean isSetTimestamp(byte[] bytes, int from, int to) {
        return ByteText.startsWithIgnoreCase(bytes, from, to, SET_PREFIX) && timestampValue(bytes, from, to) >= 0;
    }

    /** Returns the seconds that a {@code SET … timestamp=N[.fraction];} line states, or -1 if the line is not one. */
    static long timestampValue(byte[] bytes, int from, int to) {
        int i = from + SET_PREFIX.length;
        while (i < to) {
            int equals = i;
            while (equals < to && bytes[equals] != '=') {
                equals++;
            }
            int digits = equals + 1;
            // Servers print row numbers of 2^63 and more as negative ones.
            boolean negative = digits < to && bytes[digits] == '-';
            digits += negative ? 1 : 0;
            int end = digits;
            while (end < to && ByteText.isDigit(bytes[end])) {
                end++;
            }
            if (end <= digits || end == to) {
                return -1;
            }
            if (ByteText.equalsIgnoreCase(bytes, i, equals, TIMESTAMP_KEY)) {
                return endsTimestamp(bytes, end, to) ? ByteText.unsigned(bytes, equals + 1, end) : -1;
            }
            if (bytes[end] != ',' || !isInsertKey(bytes, i, equals)) {
                return -1;
            }
            i = end + 1;
        }
        return -1;
    }

    private static boolean isInsertKey(byte[] bytes, int from, int to) {
        return ByteText.equalsIgnoreCase(bytes, from, to, INSERT_KEY)
                || ByteText.equalsIgnoreCase(bytes, from, to, LAST_INSERT_KEY);
    }

    private static boolean endsTimestamp(byte[] bytes, int from, int to) {
        int i = from;
        if (bytes[i] == '.') {
            i++;
            while (i < to && ByteText.isDigit(bytes[i])) {
                i++;
            }
        }
        return i == to - 1 && bytes[i] == ';';
    }

    private static SlowLogLine bannerTail(byte[] bytes, int from, int to) {
        if (ByteText.startsWithIgnoreCase(bytes, from, to, PORT_PREFIX)) {
            return BANNER_PORT;
        }
        boolean heads = ByteText.startsWith(bytes, from, to, HEADS_PREFIX)
                && from + HEADS_PREFIX.length < to
                && ByteText.isBlank(bytes[from + HEADS_PREFIX.length])
                && ByteText.indexOf(bytes, from, Math.min(to, from + 60), HEADS_WITHIN) > 0;
        return heads ? BANNER_HEADS : OTHER;
    }

    private static boolean isBannerVersion(byte[] bytes, int from, int to) {
        return bytes[to - 1] == ':'
                && ByteText.endsWith(bytes, from, to, VERSION_END)
                && ByteText.indexOf(bytes, Math.max(from, to - MAX_VERSION_LINE), to, VERSION_MARK) >= 0;
    }

    private static final int MAX_VERSION_LINE = 1024;

    /**
     * Returns where the banner starts on its first line: at its start, or at {@code to} if other text precedes the
     * server's path. In that case a crash cut off an entry, and the start of the path is uncertain.
     */
    static int bannerStart(byte[] bytes, int from, int to) {
        int mark = ByteText.indexOf(bytes, Math.max(from, to - MAX_VERSION_LINE), to, VERSION_MARK);
        boolean drive = mark > from + 1 && bytes[from + 1] == ':';
        for (int i = from; i < mark && !drive; i++) {
            if (ByteText.isBlank(bytes[i]) || bytes[i] == '\'' || bytes[i] == '"' || bytes[i] == '`') {
                return to;
            }
        }
        return from;
    }
}
