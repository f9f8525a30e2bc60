package io.tailrace.slowlog;

import io.tailrace.lexer.ByteText;
import io.tailrace.time.CivilTime;
import io.tailrace.time.LocalClock;

/** Parses the value of a {@code # Time:} line. Not thread-safe. */
final class SlowLogTime {

    private static final int OLD_DATE = 6;
    private static final int CENTURY_TURN = 70;
    private static final int MICROS_LENGTH = ".123456".length();

    private final LocalClock clock = new LocalClock();
    private boolean local;

    /**
     * Returns the epoch microseconds of {@code 2026-11-21T02:49:03.123456Z} (MySQL 5.7 and later), or of a local
     * time: {@code 261121  2:49:03} (older versions, MariaDB) or {@code 120315 18:01:58.123456} (Percona Server 5.1
     * and 5.5 with {@code slow_query_log_timestamp_precision=microsecond}).
     *
     * @param zone IANA zone of local times
     * @param hint epoch seconds near the result, 0 if there are none
     * @return {@link CivilTime#NONE} if the bytes are neither
     */
    long micros(byte[] bytes, int from, int to, String zone, long hint) {
        long iso = CivilTime.iso(bytes, from, to);
        local = iso == CivilTime.NONE;
        return iso == CivilTime.NONE ? old(bytes, from, to, zone, hint) : iso;
    }

    /** Returns whether the latest time had no zone. */
    boolean isLocal() {
        return local;
    }

    private long old(byte[] bytes, int from, int to, String zone, long hint) {
        int date = from + OLD_DATE;
        int clockFrom = date < to ? ByteText.skipBlanks(bytes, date, to) : to;
        if (clockFrom == date || clockFrom == to) {
            return CivilTime.NONE;
        }
        int hourTo = colon(bytes, clockFrom, to);
        int minuteTo = hourTo < to ? colon(bytes, hourTo + 1, to) : to;
        if (minuteTo >= to) {
            return CivilTime.NONE;
        }
        int secondTo = minuteTo + 1;
        while (secondTo < to && bytes[secondTo] != '.') {
            secondTo++;
        }
        long micros = fraction(bytes, secondTo, to);
        long year = CivilTime.number(bytes, from, 2);
        long local = CivilTime.epochSecond(
                year < 0 ? year : year + (year < CENTURY_TURN ? 2000 : 1900),
                CivilTime.number(bytes, from + 2, 2),
                CivilTime.number(bytes, from + 4, 2),
                ByteText.unsigned(bytes, clockFrom, hourTo),
                ByteText.unsigned(bytes, hourTo + 1, minuteTo),
                ByteText.unsigned(bytes, minuteTo + 1, secondTo));
        boolean none = local == CivilTime.NONE || micros < 0;
        return none ? CivilTime.NONE : clock.utc(zone, local, hint) * 1_000_000 + micros;
    }

    /** Returns the microseconds of {@code .123456} or of an empty range; -1 if the range is neither. */
    private static long fraction(byte[] bytes, int from, int to) {
        if (from == to) {
            return 0;
        }
        return to - from == MICROS_LENGTH ? ByteText.unsigned(bytes, from + 1, to) : -1;
    }

    private static int colon(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && bytes[i] != ':') {
            i++;
        }
        return i;
    }
}
