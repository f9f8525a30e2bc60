package io.tailrace.slowlog;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.StringPool;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The header of one entry, read into fields. Lists and maps are made anew for each entry, for the event keeps them;
 * everything else is used again. Not thread-safe.
 */
final class SlowLogHeader {

    /** Above this many seconds a time is no time: the server's clock was set back and its difference overflowed. */
    private static final double MOST_SECONDS = SlowLogFields.MOST_SECONDS;

    private static final byte[] EXPLAIN = ByteText.ascii("# explain: ");
    private static final byte[] ROUTINE = ByteText.ascii("# Stored_routine: ");
    /** Percona Server 5.5 and 5.6. */
    private static final byte[] OLD_ROUTINE = ByteText.ascii("# Stored routine: ");

    private static final byte[] NOTE = ByteText.ascii("# Note ");
    private static final byte[] WARNING = ByteText.ascii("# Warning ");
    private static final byte[] ERROR = ByteText.ascii("# Error ");
    private static final byte[] SCHEMA = ByteText.ascii("Schema:");
    /** Percona Server 8.0 with {@code log_slow_verbosity=query_info}. */
    private static final byte[] QUERY_TABLES = ByteText.ascii("Query_tables:");

    private static final int USUAL_ATTRIBUTES = 24;

    private final StringPool strings;
    final UserHost userHost = new UserHost();

    int timeFrom;
    int timeTo;
    boolean hasTime;
    long timestamp;
    boolean hasDatabase;
    String database;
    boolean hasSchema;
    String schema;
    boolean administratorCommand;
    int statementFrom;
    int statementTo;

    double queryTime;
    boolean hasQueryTime;
    boolean overflow;
    double lockTime;
    long rowsSent;
    long rowsExamined;
    Long rowsAffected;
    Long bytesSent;
    Integer errorCode;
    long threadId;
    double weight;
    List<String> planFlags;
    Map<String, String> attributes;
    private StringBuilder explain;

    SlowLogHeader(StringPool strings) {
        this.strings = strings;
    }

    String explain() {
        return explain == null ? "" : explain.toString();
    }

    private void clear() {
        userHost.clear();
        hasTime = false;
        timestamp = 0;
        hasDatabase = false;
        database = "";
        hasSchema = false;
        schema = "";
        administratorCommand = false;
        queryTime = 0;
        hasQueryTime = false;
        overflow = false;
        lockTime = 0;
        rowsSent = 0;
        rowsExamined = 0;
        rowsAffected = null;
        bytesSent = null;
        errorCode = null;
        threadId = 0;
        weight = 1;
        planFlags = new ArrayList<>(2);
        attributes = new HashMap<>(USUAL_ATTRIBUTES);
        explain = null;
    }

    /** Reads the header of an entry and finds its statement. */
    void read(byte[] bytes, int from, int to) {
        clear();
        int i = from;
        int useFrom = -1;
        boolean statement = false;
        while (i < to && !statement) {
            int next = Math.min(ByteText.lineFeed(bytes, i, to) + 1, to);
            int end = ByteText.withoutLineEnd(bytes, i, next);
            SlowLogLine line = SlowLogLine.of(bytes, i, end);
            switch (line) {
                case TIME, USER, TIME_AND_USER -> names(line, bytes, i, end);
                case QUERY_TIME, HASH -> {
                    statement = hasDatabase;
                    if (!statement) {
                        fields(bytes, i, end);
                    }
                }
                case USE -> {
                    useFrom = i;
                    next = use(bytes, i, to);
                }
                case SET_TIMESTAMP -> {
                    timestamp = SlowLogLine.timestampValue(bytes, i, end);
                    i = next;
                    statement = true;
                }
                default -> statement = true;
            }
            i = statement ? i : next;
        }
        statement(bytes, statement || useFrom < 0 ? i : useFrom, to);
    }

    private void names(SlowLogLine line, byte[] bytes, int from, int end) {
        if (line != SlowLogLine.USER) {
            hasTime = true;
            timeFrom = SlowLogFields.timeFrom(bytes, from, end);
            timeTo = SlowLogFields.timeTo(bytes, from, end);
        }
        if (line != SlowLogLine.TIME) {
            userHost.read(bytes, from, end, strings);
        }
    }

    /** Reads {@code use db;}, whose name may hold line feeds; returns the index after it. */
    private int use(byte[] bytes, int from, int to) {
        int next = from;
        int end;
        do {
            int line = next;
            next = Math.min(ByteText.lineFeed(bytes, next, to) + 1, to);
            end = ByteText.withoutLineEnd(bytes, line, next);
        } while (next < to && (end == from || bytes[end - 1] != ';'));
        hasDatabase = true;
        database = SlowLogFields.databaseName(bytes, SlowLogFields.databaseFrom(from), end, strings);
        return next;
    }

    private void statement(byte[] bytes, int from, int to) {
        int end = ByteText.withoutLineEnd(bytes, from, to);
        if (end > from && bytes[end - 1] == ';') {
            end--;
        }
        statementTo = end;
        administratorCommand = ByteText.startsWith(bytes, from, end, ADMINISTRATOR);
        statementFrom = administratorCommand ? from + 2 : from;
    }

    private static final byte[] ADMINISTRATOR = ByteText.ascii("# administrator command: ");

    private void fields(byte[] bytes, int from, int end) {
        if (ByteText.startsWith(bytes, from, end, EXPLAIN)) {
            explain(bytes, from + EXPLAIN.length, end);
        } else if (ByteText.startsWith(bytes, from, end, ROUTINE)) {
            attribute("Stored_routine", strings.utf8(bytes, from + ROUTINE.length, end));
        } else if (ByteText.startsWith(bytes, from, end, OLD_ROUTINE)) {
            attribute("Stored_routine", strings.utf8(bytes, from + OLD_ROUTINE.length, end));
        } else if (ByteText.startsWith(bytes, from, end, NOTE)) {
            condition("Note", bytes, from + NOTE.length, end);
        } else if (ByteText.startsWith(bytes, from, end, WARNING)) {
            condition("Warning", bytes, from + WARNING.length, end);
        } else if (ByteText.startsWith(bytes, from, end, ERROR)) {
            condition("Error", bytes, from + ERROR.length, end);
        } else {
            pairs(bytes, from + 1, end);
        }
    }

    private void explain(byte[] bytes, int from, int end) {
        if (explain == null) {
            explain = new StringBuilder(256);
        } else {
            explain.append('\n');
        }
        explain.append(ByteText.utf8(bytes, from, end));
    }

    /** A condition's text may quote a value of the statement, so only its number is kept. */
    private void condition(String level, byte[] bytes, int from, int end) {
        int digits = from;
        while (digits < end && ByteText.isDigit(bytes[digits])) {
            digits++;
        }
        if (digits > from) {
            attribute("Warnings", level + ' ' + strings.utf8(bytes, from, digits));
        }
    }

    /**
     * Reads {@code Key: value} pairs. A line that does not start with a key holds none. A number sign between pairs is
     * that of a line which a tool has joined to the one before.
     */
    private void pairs(byte[] bytes, int from, int end) {
        int key = ByteText.skipBlanks(bytes, from, end);
        while (key < end) {
            int keyEnd = tokenEnd(bytes, key, end);
            if (keyEnd == key + 1 && bytes[key] == '#') {
                key = ByteText.skipBlanks(bytes, keyEnd, end);
                continue;
            }
            if (!isKey(bytes, key, keyEnd)) {
                return;
            }
            int value = ByteText.skipBlanks(bytes, keyEnd, end);
            int valueEnd = valueEnd(bytes, key, keyEnd, value, end);
            field(strings.utf8(bytes, key, keyEnd - 1), bytes, value, valueEnd);
            key = ByteText.skipBlanks(bytes, valueEnd, end);
        }
    }

    private static int valueEnd(byte[] bytes, int key, int keyEnd, int value, int end) {
        int first = tokenEnd(bytes, value, end);
        if (isKey(bytes, value, first)) {
            return value;
        }
        if (!isName(bytes, key, keyEnd)) {
            return first;
        }
        int valueEnd = first;
        int next = ByteText.skipBlanks(bytes, first, end);
        while (next < end && !isKey(bytes, next, tokenEnd(bytes, next, end))) {
            valueEnd = tokenEnd(bytes, next, end);
            next = ByteText.skipBlanks(bytes, valueEnd, end);
        }
        return valueEnd;
    }

    /** The key's value is a name, which may hold blanks. */
    private static boolean isName(byte[] bytes, int key, int keyEnd) {
        return ByteText.startsWith(bytes, key, keyEnd, SCHEMA) || ByteText.startsWith(bytes, key, keyEnd, QUERY_TABLES);
    }

    private static boolean isKey(byte[] bytes, int from, int to) {
        if (to - from < 2 || bytes[to - 1] != ':') {
            return false;
        }
        byte first = ByteText.lower(bytes[from]);
        return first >= 'a' && first <= 'z';
    }

    private static int tokenEnd(byte[] bytes, int from, int end) {
        int i = from;
        while (i < end && !ByteText.isBlank(bytes[i])) {
            i++;
        }
        return i;
    }

    private void field(String key, byte[] bytes, int from, int to) {
        switch (key) {
            case "Query_time" -> {
                hasQueryTime = true;
                queryTime = time(key, bytes, from, to);
            }
            case "Lock_time" -> lockTime = time(key, bytes, from, to);
            case "Rows_sent" -> rowsSent = count(key, bytes, from, to);
            case "Rows_examined" -> rowsExamined = count(key, bytes, from, to);
            case "Rows_affected" -> rowsAffected = count(key, bytes, from, to);
            case "Bytes_sent" -> bytesSent = count(key, bytes, from, to);
            case "Last_errno", "Errno" -> errorCode = (int) count(key, bytes, from, to);
            case "Thread_id", "Id" -> threadId = count(key, bytes, from, to);
            case "Schema" -> {
                hasSchema = true;
                schema = strings.utf8(bytes, from, to);
            }
            case "Log_slow_rate_limit" -> {
                weight = Math.max(1, count(key, bytes, from, to));
                attribute(key, strings.utf8(bytes, from, to));
            }
            case "Full_scan" -> planFlag("full_scan", bytes, from, to);
            case "Full_join" -> planFlag("full_join", bytes, from, to);
            case "Tmp_table" -> planFlag("tmp_table", bytes, from, to);
            case "Tmp_table_on_disk" -> planFlag("tmp_table_on_disk", bytes, from, to);
            case "Filesort" -> planFlag("filesort", bytes, from, to);
            case "Filesort_on_disk" -> planFlag("filesort_on_disk", bytes, from, to);
            case "QC_Hit", "QC_hit" -> planFlag("query_cache_hit", bytes, from, to);
            default -> attribute(key, strings.utf8(bytes, from, to));
        }
    }

    private void planFlag(String name, byte[] bytes, int from, int to) {
        if (to - from == 3 && bytes[from] == 'Y') {
            planFlags.add(name);
        }
    }

    /** A key that comes twice, as profile stages do, keeps all its values. */
    private void attribute(String key, String value) {
        attributes.merge(key, value, (first, next) -> first + ',' + next);
    }

    private long count(String key, byte[] bytes, int from, int to) {
        long value = ByteText.unsigned(bytes, from, to);
        if (value < 0) {
            attribute(key, strings.utf8(bytes, from, to));
            return 0;
        }
        return value;
    }

    /**
     * Seconds. {@code 18446744073708.796870.000036} and its like count as 0, and the text is kept: the clock was set
     * back while the statement ran.
     */
    private double time(String key, byte[] bytes, int from, int to) {
        double seconds = Decimal.parse(bytes, from, to);
        if (seconds >= 0 && seconds <= MOST_SECONDS) {
            return seconds;
        }
        overflow = true;
        attribute(key, strings.utf8(bytes, from, to));
        return 0;
    }
}
