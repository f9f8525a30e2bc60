package io.tailrace.slowlog;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** State that a slow log writes once and that applies to later entries: the latest time header and default database. */
final class InheritedContext {

    /** Longest value that is stored, bytes. A MySQL identifier has at most 256. */
    private static final int MAX_LENGTH = 320;

    /** Index of the T in an ISO 8601 time. */
    private static final int ISO_TIME_MARK = 10;

    /** Maximum difference by which threads overtake each other, microseconds. */
    private static final long MAX_OVERTAKING = 2_000_000;

    private final SlowLogTime times = new SlowLogTime();
    private byte[] time = new byte[0];
    private byte[] database = new byte[0];
    /** The latest time as text, or null until it is requested. */
    private String timeText = "";

    private String databaseText = "";

    void forget() {
        time = new byte[0];
        database = new byte[0];
        timeText = "";
        databaseText = "";
    }

    /** Stores the value of a {@code # Time:} line; returns false if it has none. */
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

    /** Stores the database of a {@code use} line, with its semicolon and quotes, or the first line of it. */
    void takeDatabase(byte[] bytes, int lineFrom, int lineTo) {
        database = bounded(bytes, SlowLogFields.databaseFrom(lineFrom), lineTo);
        databaseText = null;
    }

    /** Appends a line to a database name that contains a line feed, unless the name is as long as permitted. */
    void appendToDatabase(byte[] bytes, int from, int to) {
        if (database.length >= MAX_LENGTH) {
            return;
        }
        int length = Math.min(to - from, MAX_LENGTH - database.length - 1);
        byte[] joined = Arrays.copyOf(database, database.length + 1 + length);
        joined[database.length] = '\n';
        System.arraycopy(bytes, from, joined, database.length + 1, length);
        database = joined;
        databaseText = null;
    }

    private static byte[] bounded(byte[] bytes, int from, int to) {
        return Arrays.copyOfRange(bytes, from, Math.max(from, Math.min(to, from + MAX_LENGTH)));
    }

    /**
     * Returns whether the value of a {@code # Time:} line is before the latest one. Only times of the same form and
     * zone are comparable.
     */
    boolean isAfter(byte[] bytes, int lineFrom, int lineTo) {
        int from = SlowLogFields.timeFrom(bytes, lineFrom, lineTo);
        int to = SlowLogFields.timeTo(bytes, lineFrom, lineTo);
        return to - from == time.length && Arrays.compare(bytes, from, to, time, 0, time.length) < 0;
    }

    /**
     * Returns whether the value of a {@code # Time:} line is before the latest one by more than threads of a server
     * overtake each other between reading the clock and writing. Then the clock was set back, or one of the two is
     * text of a client.
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

    /**
     * Returns whether the latest time has the form {@code 2026-11-24T06:40:25.800692Z}, not {@code 261124  6:40:25}.
     */
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
