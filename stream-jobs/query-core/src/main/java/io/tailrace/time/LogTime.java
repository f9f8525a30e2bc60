package io.tailrace.time;

import io.tailrace.lexer.ByteText;

/**
 * Finds and reads the time at the start of a line of a general or error log. Not thread-safe.
 *
 * <pre>
 * 2026-11-21T02:49:03.496201Z        MySQL 5.7 and later; also +02:00; the zone is part of it
 * 2026-11-21  2:49:03                MySQL 5.6, MariaDB 10.1 and later; local
 * 261121  2:49:03                    MySQL 5.1 to 5.5, MariaDB before 10.1, XtraBackup 2; local
 * </pre>
 */
public final class LogTime {

    private static final int ISO_DATE = "2026-11-21".length();
    private static final int OLD_DATE = "261121".length();
    private static final int CENTURY_TURN = 70;

    private final LocalClock clock = new LocalClock();

    /**
     * Returns the index after the time at {@code from}, or -1 if no time starts there. Only digits are checked, not
     * their ranges.
     */
    public static int end(byte[] bytes, int from, int to) {
        int date = dateEnd(bytes, from, to);
        if (date < 0 || date >= to) {
            return -1;
        }
        int clockFrom = date;
        if (bytes[date] == 'T' && date - from == ISO_DATE) {
            clockFrom++;
        } else {
            while (clockFrom < to && bytes[clockFrom] == ' ' && clockFrom - date < 2) {
                clockFrom++;
            }
        }
        int clockTo = clockFrom == date ? -1 : clockEnd(bytes, clockFrom, to);
        return clockTo >= 0 && date - from == ISO_DATE ? zoneEnd(bytes, clockTo, to) : clockTo;
    }

    private static int dateEnd(byte[] bytes, int from, int to) {
        int i = digitsEnd(bytes, from, to);
        if (i - from == OLD_DATE) {
            return i;
        }
        boolean iso = i - from == 4
                && to - from >= ISO_DATE
                && bytes[i] == '-'
                && digitsEnd(bytes, i + 1, to) == i + 3
                && bytes[i + 3] == '-'
                && digitsEnd(bytes, i + 4, to) == i + 6;
        return iso ? i + 6 : -1;
    }

    /** Returns the index after {@code H:MM:SS} or {@code HH:MM:SS}. */
    private static int clockEnd(byte[] bytes, int from, int to) {
        int hour = digitsEnd(bytes, from, to);
        boolean fits = hour > from
                && hour - from <= 2
                && to - hour >= 6
                && bytes[hour] == ':'
                && digitsEnd(bytes, hour + 1, to) == hour + 3
                && bytes[hour + 3] == ':'
                && digitsEnd(bytes, hour + 4, to) == hour + 6;
        return fits ? hour + 6 : -1;
    }

    private static int zoneEnd(byte[] bytes, int from, int to) {
        int i = from;
        if (i < to && bytes[i] == '.') {
            i = digitsEnd(bytes, i + 1, to);
        }
        if (i < to && bytes[i] == 'Z') {
            return i + 1;
        }
        boolean offset = to - i >= 6
                && (bytes[i] == '+' || bytes[i] == '-')
                && bytes[i + 3] == ':'
                && digitsEnd(bytes, i + 1, to) == i + 3
                && digitsEnd(bytes, i + 4, to) == i + 6;
        return offset ? i + 6 : i;
    }

    private static int digitsEnd(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && ByteText.isDigit(bytes[i])) {
            i++;
        }
        return i;
    }

    /**
     * Returns the epoch microseconds of the time in the range.
     *
     * @param zone IANA zone of times without one
     * @return {@link CivilTime#NONE} if the range is not a time
     */
    public long micros(byte[] bytes, int from, int to, String zone) {
        long iso = CivilTime.iso(bytes, from, to);
        if (iso != CivilTime.NONE) {
            return iso;
        }
        int date = dateEnd(bytes, from, to);
        if (date < 0) {
            return CivilTime.NONE;
        }
        int clockFrom = date < to && bytes[date] == 'T' ? date + 1 : ByteText.skipBlanks(bytes, date, to);
        int clockTo = clockEnd(bytes, clockFrom, to);
        long local = clockTo < 0 ? CivilTime.NONE : local(bytes, from, date, clockFrom, clockTo);
        return local == CivilTime.NONE ? local : clock.utc(zone, local, 0) * 1_000_000 + fraction(bytes, clockTo, to);
    }

    private static long local(byte[] bytes, int from, int date, int clockFrom, int clockTo) {
        boolean old = date - from == OLD_DATE;
        long year = CivilTime.number(bytes, from, old ? 2 : 4);
        int month = from + (old ? 2 : 5);
        return CivilTime.epochSecond(
                old ? year + (year < CENTURY_TURN ? 2000 : 1900) : year,
                CivilTime.number(bytes, month, 2),
                CivilTime.number(bytes, month + (old ? 2 : 3), 2),
                ByteText.unsigned(bytes, clockFrom, clockTo - 6),
                CivilTime.number(bytes, clockTo - 5, 2),
                CivilTime.number(bytes, clockTo - 2, 2));
    }

    private static long fraction(byte[] bytes, int from, int to) {
        long micros = 0;
        long unit = 100_000;
        for (int i = from + 1; i < to && bytes[from] == '.' && ByteText.isDigit(bytes[i]); i++) {
            micros += unit * (bytes[i] - '0');
            unit /= 10;
        }
        return micros;
    }
}
