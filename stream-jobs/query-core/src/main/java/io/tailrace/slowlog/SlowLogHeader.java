package io.tailrace.slowlog;

import io.tailrace.framing.EntryDetail;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.Decimal;
import io.tailrace.lexer.StringPool;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Parses the header of one entry into fields. Lists and maps that are not empty are new objects, because the event
 * keeps references to them; everything else is reused. Not thread-safe.
 */
final class SlowLogHeader {

    /** Larger times are invalid, in seconds: the server's clock was set back and the difference overflowed. */
    private static final double MAX_SECONDS = SlowLogFields.MAX_SECONDS;

    private static final byte[] EXPLAIN = ByteText.ascii("# explain: ");
    private static final byte[] ROUTINE = ByteText.ascii("# Stored_routine: ");
    /** Used by Percona Server 5.5 and 5.6. */
    private static final byte[] OLD_ROUTINE = ByteText.ascii("# Stored routine: ");

    private static final byte[] NOTE = ByteText.ascii("# Note ");
    private static final byte[] WARNING = ByteText.ascii("# Warning ");
    private static final byte[] ERROR = ByteText.ascii("# Error ");
    private static final int INITIAL_ATTRIBUTES = 24;
    private static final int FEW_ATTRIBUTES = 4;

    private final StringPool strings;
    /** Attributes and the plan are also read. */
    private final boolean full;

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
    private final PlanCounters counters = new PlanCounters();
    private StringBuilder explain;

    SlowLogHeader(StringPool strings, EntryDetail detail) {
        this.strings = strings;
        this.full = detail == EntryDetail.FULL;
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
        planFlags = List.of();
        counters.clear();
        attributes = Map.of();
        explain = null;
    }

    /** Reads the header of an entry and locates its statement. */
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
        countedFlags();
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

    /** Reads {@code use db;}, whose name may contain line feeds; returns the index after it. */
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
        // If lines follow it, it is a comment of a client's statement.
        administratorCommand =
                ByteText.startsWith(bytes, from, end, ADMINISTRATOR) && ByteText.lineFeed(bytes, from, end) == end;
        statementFrom = administratorCommand ? from + 2 : from;
    }

    private static final byte[] ADMINISTRATOR = ByteText.ascii("# administrator command: ");

    private void fields(byte[] bytes, int from, int end) {
        if (end - from < 3 || bytes[from + 1] != ' ') {
            pairs(bytes, from + 1, end);
            return;
        }
        switch (bytes[from + 2]) {
            case 'e', 'S', 's', 'N', 'W', 'E' -> otherFields(bytes, from, end);
            default -> pairs(bytes, from + 1, end);
        }
    }

    private void otherFields(byte[] bytes, int from, int end) {
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
        if (!full) {
            return;
        }
        if (explain == null) {
            explain = new StringBuilder(256);
        } else {
            explain.append('\n');
        }
        explain.append(ByteText.utf8(bytes, from, end));
    }

    /** Stores only the number of a condition, because its text may quote a value of the statement. */
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
     * Reads {@code Key: value} pairs. A line that does not start with a key contains none. A number sign between
     * pairs is that of a line which a tool has joined to the previous one.
     */
    private void pairs(byte[] bytes, int from, int end) {
        int key = ByteText.skipBlanks(bytes, from, end);
        while (key < end) {
            int keyEnd = ByteText.wordEnd(bytes, key, end);
            if (keyEnd == key + 1 && bytes[key] == '#') {
                key = ByteText.skipBlanks(bytes, keyEnd, end);
                continue;
            }
            if (!isKey(bytes, key, keyEnd)) {
                return;
            }
            HeaderField field = HeaderField.of(bytes, key, keyEnd - 1);
            int value = ByteText.skipBlanks(bytes, keyEnd, end);
            int valueEnd = valueEnd(field, bytes, value, end);
            if (field != null) {
                field(field, bytes, key, keyEnd - 1, value, valueEnd);
            } else if (full) {
                attribute(bytes, key, keyEnd - 1, value, valueEnd);
            }
            key = ByteText.skipBlanks(bytes, valueEnd, end);
        }
    }

    private static int valueEnd(HeaderField field, byte[] bytes, int value, int end) {
        int first = ByteText.wordEnd(bytes, value, end);
        if (isKey(bytes, value, first)) {
            return value;
        }
        return field != null && field.isName() ? nameEnd(bytes, first, end) : first;
    }

    /** Returns the end of a name, which may contain blanks and extends to the next key. */
    private static int nameEnd(byte[] bytes, int first, int end) {
        int nameEnd = first;
        int next = ByteText.skipBlanks(bytes, first, end);
        while (next < end) {
            int wordEnd = ByteText.wordEnd(bytes, next, end);
            if (isKey(bytes, next, wordEnd)) {
                return nameEnd;
            }
            nameEnd = wordEnd;
            next = ByteText.skipBlanks(bytes, wordEnd, end);
        }
        return nameEnd;
    }

    private static boolean isKey(byte[] bytes, int from, int to) {
        if (to - from < 2 || bytes[to - 1] != ':') {
            return false;
        }
        byte first = ByteText.lower(bytes[from]);
        return first >= 'a' && first <= 'z';
    }

    private void field(HeaderField field, byte[] bytes, int key, int keyEnd, int from, int to) {
        switch (field) {
            case QUERY_TIME -> {
                hasQueryTime = true;
                queryTime = time(bytes, key, keyEnd, from, to);
            }
            case LOCK_TIME -> lockTime = time(bytes, key, keyEnd, from, to);
            case ROWS_SENT -> rowsSent = count(bytes, key, keyEnd, from, to);
            case ROWS_EXAMINED -> rowsExamined = count(bytes, key, keyEnd, from, to);
            case ROWS_AFFECTED -> rowsAffected = count(bytes, key, keyEnd, from, to);
            case BYTES_SENT -> bytesSent = count(bytes, key, keyEnd, from, to);
            case ERROR_CODE -> errorCode = (int) count(bytes, key, keyEnd, from, to);
            case THREAD_ID -> threadId = count(bytes, key, keyEnd, from, to);
            case SCHEMA -> {
                hasSchema = true;
                schema = strings.utf8(bytes, from, to);
            }
            case RATE_TYPE, QUERY_TABLES -> attribute(bytes, key, keyEnd, from, to);
            case RATE_LIMIT -> {
                weight = Math.max(1, count(bytes, key, keyEnd, from, to));
                attribute(bytes, key, keyEnd, from, to);
            }
            case FULL_SCAN -> planFlag("full_scan", bytes, from, to);
            case FULL_JOIN -> planFlag("full_join", bytes, from, to);
            case TMP_TABLE -> planFlag("tmp_table", bytes, from, to);
            case TMP_TABLE_ON_DISK -> planFlag("tmp_table_on_disk", bytes, from, to);
            case FILESORT -> planFlag("filesort", bytes, from, to);
            case FILESORT_ON_DISK -> planFlag("filesort_on_disk", bytes, from, to);
            case QUERY_CACHE_HIT -> planFlag("query_cache_hit", bytes, from, to);
            case READ_RND_NEXT, SORTS, SORT_MERGE_PASSES, TMP_TABLES, TMP_DISK_TABLES -> {
                if (ByteText.unsigned(bytes, from, to) > 0) {
                    counters.take(field);
                }
                if (full) {
                    attribute(bytes, key, keyEnd, from, to);
                }
            }
        }
    }

    private void countedFlags() {
        if (!counters.isEmpty()) {
            planFlags = planFlags.isEmpty() ? new ArrayList<>(4) : planFlags;
            counters.addFlags(rowsExamined, planFlags);
        }
    }

    private void planFlag(String name, byte[] bytes, int from, int to) {
        if (to - from == 3 && bytes[from] == 'Y') {
            planFlags = planFlags.isEmpty() ? new ArrayList<>(4) : planFlags;
            planFlags.add(name);
        }
    }

    /** Adds an attribute. A key that occurs several times, such as profile stages, gets all its values. */
    void attribute(String key, String value) {
        attributes = attributes.isEmpty() ? new HashMap<>(full ? INITIAL_ATTRIBUTES : FEW_ATTRIBUTES) : attributes;
        attributes.merge(key, value, (first, next) -> first + ',' + next);
    }

    private void attribute(byte[] bytes, int key, int keyEnd, int from, int to) {
        attribute(strings.utf8(bytes, key, keyEnd), strings.utf8(bytes, from, to));
    }

    private long count(byte[] bytes, int key, int keyEnd, int from, int to) {
        long value = ByteText.unsigned(bytes, from, to);
        if (value < 0) {
            attribute(bytes, key, keyEnd, from, to);
            return 0;
        }
        return value;
    }

    /**
     * Parses seconds. {@code 18446744073708.796870.000036} and similar values count as 0, and the text is kept: the
     * clock was set back while the statement ran.
     */
    private double time(byte[] bytes, int key, int keyEnd, int from, int to) {
        double seconds = Decimal.parse(bytes, from, to);
        if (seconds >= 0 && seconds <= MAX_SECONDS) {
            return seconds;
        }
        overflow = true;
        attribute(bytes, key, keyEnd, from, to);
        return 0;
    }
}
