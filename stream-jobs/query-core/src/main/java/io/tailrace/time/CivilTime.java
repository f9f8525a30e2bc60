package io.tailrace.time;

import io.tailrace.lexer.ByteText;
import java.time.Instant;

/**
 * Converts times of the proleptic Gregorian calendar from bytes to epoch microseconds, without allocating objects, and
 * these to instants.
 */
public final class CivilTime {

    /** Returned if the bytes are not a time. */
    public static final long NONE = Long.MIN_VALUE;

    private static final int DATE_AND_TIME = "2026-11-21T02:49:03".length();

    private CivilTime() {}

    /** Returns the seconds since 1970 of a UTC time, or {@link #NONE} if a field is out of its range. */
    public static long epochSecond(long year, long month, long day, long hour, long minute, long second) {
        boolean date = year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
        boolean clock = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second <= 60;
        return date && clock ? epochDay(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second : NONE;
    }

    /** Returns the instant of microseconds since 1970, which may be negative. */
    public static Instant instant(long micros) {
        return Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000), Math.floorMod(micros, 1_000_000) * 1_000L);
    }

    /** Returns the days since 1970 by Howard Hinnant's algorithm. */
    private static long epochDay(long year, long month, long day) {
        long y = month <= 2 ? year - 1 : year;
        long era = y / 400;
        long yearOfEra = y - era * 400;
        long dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
        long dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
        return era * 146_097 + dayOfEra - 719_468;
    }

    private static long daysOf(long year, long month) {
        if (month == 2) {
            boolean leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            return leap ? 29 : 28;
        }
        return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
    }

    /**
     * Parses {@code 2026-11-21T02:49:03[.123456](Z|+02:00|-00:00)}, the form of MySQL 5.7 and later.
     *
     * @return epoch microseconds, or {@link #NONE}
     */
    public static long iso(byte[] bytes, int from, int to) {
        long seconds = isoSecond(bytes, from, to);
        if (seconds == NONE) {
            return NONE;
        }
        int i = from + DATE_AND_TIME;
        long micros = 0;
        if (i < to && bytes[i] == '.') {
            int fraction = i + 1;
            i = fraction;
            long unit = 100_000;
            while (i < to && ByteText.isDigit(bytes[i])) {
                micros += unit * (bytes[i++] - '0');
                unit /= 10;
            }
        }
        long offset = offsetSeconds(bytes, i, to);
        return offset == NONE ? NONE : (seconds - offset) * 1_000_000 + micros;
    }

    /** Returns the seconds since 1970 of the date and time of the ISO form, taken as UTC. */
    public static long isoSecond(byte[] bytes, int from, int to) {
        if (to - from < DATE_AND_TIME || bytes[from + 4] != '-' || bytes[from + 7] != '-') {
            return NONE;
        }
        boolean separators = (bytes[from + 10] == 'T' || bytes[from + 10] == ' ')
                && bytes[from + 13] == ':'
                && bytes[from + 16] == ':';
        return separators
                ? epochSecond(
                        number(bytes, from, 4),
                        number(bytes, from + 5, 2),
                        number(bytes, from + 8, 2),
                        number(bytes, from + 11, 2),
                        number(bytes, from + 14, 2),
                        number(bytes, from + 17, 2))
                : NONE;
    }

    private static long offsetSeconds(byte[] bytes, int from, int to) {
        if (to - from == 1 && bytes[from] == 'Z') {
            return 0;
        }
        if (to - from != 6 || bytes[from + 3] != ':' || bytes[from] != '+' && bytes[from] != '-') {
            return NONE;
        }
        long hours = number(bytes, from + 1, 2);
        long minutes = number(bytes, from + 4, 2);
        if (hours < 0 || minutes < 0) {
            return NONE;
        }
        long seconds = hours * 3_600 + minutes * 60;
        return bytes[from] == '-' ? -seconds : seconds;
    }

    /** Parses a number of exactly {@code digits} digits; returns -1 if it is not one. */
    public static long number(byte[] bytes, int from, int digits) {
        return ByteText.unsigned(bytes, from, from + digits);
    }
}
