package io.tailrace.slowlog;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** What a slow log says once for the entries that follow: the latest time header and default database. */
final class InheritedContext {

    /** Longest value that is carried, bytes. A MySQL identifier has at most 256. */
    private static final int MAX_LENGTH = 320;

    /** Where an ISO 8601 time has its T. */
    private static final int ISO_TIME_MARK = 10;

    /** Microseconds. */
    private static final long MAX_OVERTAKING = 2_000_000;

    private final SlowLogTime times = new SlowLogTime();
    private byte[] time = new byte[0];
    private byte[] database = new byte[0];
    /** The same as text, or null where it was not asked for yet. */
    private String timeText = "";

    private String databaseText = "";

    void forget() {
        time = new byte[0];
        database = new byte[0];
        timeText = "";
        databaseText = "";
    }

    /** Takes the value of a {@code # Time:} line; false where it has none. */
    boolean takeTime(byte[] bytes, int lineFrom, int lineTo) {
        int from = SlowLogFields.timeFrom(bytes, lineFrom, lineTo);
        int to = SlowLogFields.timeTo(bytes, lineFrom, lineTo);
        if (from >= to) {
            return false;
        }
        time = bounded(bytes, from, to);
        timeText = null;
        return true;
    }

    /** Takes the database of a {@code use} line, with its semicolon and quotes, or the first line of it. */
    void takeDatabase(byte[] bytes, int lineFrom, int lineTo) {
        database = bounded(bytes, SlowLogFields.databaseFrom(lineFrom), lineTo);
        databaseText = null;
    }

    /** Adds a line to the database's name, which holds a line feed. */
    void appendToDatabase(byte[] bytes, int from, int to) {
        int length = Math.min(to - from, Math.max(0, MAX_LENGTH - database.length - 1));
        byte[] joined = Arrays.copyOf(database, database.length + 1 + length);
        joined[database.length] = '\n';
        System.arraycopy(bytes, from, joined, database.length + 1, length);
        database = joined;
        databaseText = null;
    }

    private static byte[] bounded(byte[] bytes, int from, int to) {
        return Arrays.copyOfRange(bytes, from, Math.max(from, Math.min(to, from + MAX_LENGTH)));
    }

    /** The value of a {@code # Time:} line is before the latest. Only times of one form and zone can be compared. */
    boolean isAfter(byte[] bytes, int lineFrom, int lineTo) {
        int from = SlowLogFields.timeFrom(bytes, lineFrom, lineTo);
        int to = SlowLogFields.timeTo(bytes, lineFrom, lineTo);
        return to - from == time.length && Arrays.compare(bytes, from, to, time, 0, time.length) < 0;
    }

    /**
     * The value of a {@code # Time:} line is before the latest by more than servers' threads overtake each other
     * between asking for the time and writing it. The clock was set back, or one of the two is a client's text.
     */
    boolean isFarAfter(byte[] bytes, int lineFrom, int lineTo) {
        if (!isAfter(bytes, lineFrom, lineTo)) {
            return false;
        }
        int from = SlowLogFields.timeFrom(bytes, lineFrom, lineTo);
        int to = SlowLogFields.timeTo(bytes, lineFrom, lineTo);
        long latest = times.micros(time, 0, time.length, "UTC", 0);
        return latest - times.micros(bytes, from, to, "UTC", 0) > MAX_OVERTAKING;
    }

    /** The latest time is as {@code 2026-11-24T06:40:25.800692Z}, not as {@code 261124  6:40:25}. */
    boolean timeIsIso() {
        return time.length > ISO_TIME_MARK && time[ISO_TIME_MARK] == 'T';
    }

    String time() {
        if (timeText == null) {
            timeText = new String(time, StandardCharsets.ISO_8859_1);
        }
        return timeText;
    }

    String database() {
        if (databaseText == null) {
            databaseText = SlowLogFields.rawDatabaseName(database);
        }
        return databaseText;
    }

    void write(ByteBuffer out) {
        out.putShort((short) time.length)
                .put(time)
                .putShort((short) database.length)
                .put(database);
    }

    void read(ByteBuffer in) {
        time = value(in);
        database = value(in);
        timeText = null;
        databaseText = null;
    }

    private static byte[] value(ByteBuffer in) {
        byte[] value = new byte[in.getShort()];
        in.get(value);
        return value;
    }
}
