package io.tailrace.cli.plan;

import java.util.Locale;

/** Formats numbers with few characters. */
final class PlanNumberFormatter {

    private static final double THOUSAND = 1e3;
    private static final String[] UNITS = {"", "k", "M", "G", "T", "P"};
    /** Up to this number, all digits are written. */
    private static final double MAX_UNSCALED = 99_999.5;

    private PlanNumberFormatter() {}

    /** Formats rows, loops or a cost: {@code 0.25}, {@code 6,000}, {@code 1.2M}; empty if the number is unknown. */
    static String count(double number) {
        if (Double.isNaN(number)) {
            return "";
        }
        if (number < MAX_UNSCALED) {
            boolean whole = number == Math.rint(number) || number >= 100;
            return String.format(Locale.ROOT, whole ? "%,.0f" : number < 1 ? "%.2f" : "%.1f", number);
        }
        int unit = 0;
        double rest = number;
        while (rest >= THOUSAND - 0.5 && unit < UNITS.length - 1) {
            rest /= THOUSAND;
            unit++;
        }
        return String.format(Locale.ROOT, rest < 10 ? "%.1f" : "%.0f", rest) + UNITS[unit];
    }

    static String percent(double percent) {
        return Double.isNaN(percent)
                ? ""
                : String.format(Locale.ROOT, percent < 10 && percent > 0 ? "%.1f%%" : "%.0f%%", percent);
    }

    static String time(double millis) {
        if (Double.isNaN(millis)) {
            return "";
        }
        if (millis >= THOUSAND) {
            return String.format(Locale.ROOT, "%.2f s", millis / THOUSAND);
        }
        return String.format(Locale.ROOT, millis < 1 ? "%.3f ms" : millis < 100 ? "%.1f ms" : "%.0f ms", millis);
    }
}
