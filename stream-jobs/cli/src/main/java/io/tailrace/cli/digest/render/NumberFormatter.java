package io.tailrace.cli.digest.render;

import java.util.Locale;

/** Formats numbers for people: about three significant digits and a unit. */
public final class NumberFormatter {

    private static final String[] TIME_UNITS = {"s", "ms", "µs", "ns"};
    private static final String[] COUNT_UNITS = {"", "k", "M", "G", "T", "P"};
    private static final String[] BYTE_UNITS = {" B", " kB", " MB", " GB", " TB", " PB"};
    private static final double STEP = 1_000;
    private static final long MINUTE = 60;
    private static final long HOUR = 3_600;
    private static final long DAY = 86_400;

    /** What stands for an unknown number. */
    public static final String UNKNOWN = "?";

    private NumberFormatter() {}

    /** Formats seconds as {@code 12.3ms}, {@code 4.2s} or {@code 2h05m}. */
    public static String seconds(double value) {
        if (value >= 100) {
            return duration(value);
        }
        if (Double.isNaN(value)) {
            return UNKNOWN;
        }
        double scaled = value;
        int unit = 0;
        while (scaled > 0 && scaled < 0.9995 && unit < TIME_UNITS.length - 1) {
            scaled *= STEP;
            unit++;
        }
        return value == 0 ? "0" : number(scaled) + TIME_UNITS[unit];
    }

    /** Formats the two largest units of a long time. */
    static String duration(double value) {
        long seconds = Math.round(value);
        if (seconds < 2 * MINUTE) {
            return seconds + "s";
        }
        if (seconds < HOUR) {
            return pair(seconds, MINUTE, "m", 1, "s");
        }
        if (seconds < DAY) {
            return pair(seconds, HOUR, "h", MINUTE, "m");
        }
        return pair(seconds, DAY, "d", HOUR, "h");
    }

    private static String pair(long seconds, long large, String largeUnit, long small, String smallUnit) {
        return String.format(Locale.ROOT, "%d%s%02d%s", seconds / large, largeUnit, seconds % large / small, smallUnit);
    }

    public static String count(double value) {
        if (Double.isInfinite(value)) {
            return "∞";
        }
        return scaled(value, 100 * STEP, COUNT_UNITS);
    }

    public static String bytes(double value) {
        return scaled(value, STEP, BYTE_UNITS);
    }

    private static String scaled(double value, double limit, String[] units) {
        if (Double.isNaN(value)) {
            return UNKNOWN;
        }
        double scaled = value;
        int unit = 0;
        while (scaled >= limit && unit < units.length - 1) {
            scaled /= STEP;
            unit++;
        }
        return number(scaled) + units[unit];
    }

    public static String share(double part, double whole) {
        double percent = whole == 0 ? 0 : 100 * part / whole;
        return percent > 0 && percent < 0.05 ? "<0.1%" : String.format(Locale.ROOT, "%.1f%%", percent);
    }

    /** Formats a whole count with separators between thousands. */
    public static String whole(double value) {
        return String.format(Locale.ROOT, "%,.0f", value);
    }

    /** Formats about three significant digits, with as few decimals as possible. */
    public static String number(double value) {
        if (Double.isNaN(value)) {
            return UNKNOWN;
        }
        int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
        String text = String.format(Locale.ROOT, "%." + decimals + "f", value);
        int end = text.length();
        while (decimals > 0 && text.charAt(end - 1) == '0') {
            end--;
        }
        return text.substring(0, decimals > 0 && text.charAt(end - 1) == '.' ? end - 1 : end);
    }
}
