package io.tailrace.cli;

import java.util.Locale;

/** Figures as people read them: about three significant digits and a unit. */
final class Figures {

    private static final String[] TIME_UNITS = {"s", "ms", "µs"};
    private static final String[] COUNT_UNITS = {"", "k", "M", "G", "T"};
    private static final double STEP = 1_000;

    private Figures() {}

    static String seconds(double value) {
        double scaled = value;
        int unit = 0;
        while (scaled > 0 && scaled < 1 && unit < TIME_UNITS.length - 1) {
            scaled *= STEP;
            unit++;
        }
        return value == 0 ? "0" : number(scaled) + TIME_UNITS[unit];
    }

    static String count(double value) {
        double scaled = value;
        int unit = 0;
        while (scaled >= 100 * STEP && unit < COUNT_UNITS.length - 1) {
            scaled /= STEP;
            unit++;
        }
        return number(scaled) + COUNT_UNITS[unit];
    }

    static String share(double part, double whole) {
        return String.format(Locale.ROOT, "%.1f%%", whole == 0 ? 0 : 100 * part / whole);
    }

    private static String number(double value) {
        int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
        String text = String.format(Locale.ROOT, "%." + decimals + "f", value);
        int end = text.length();
        while (decimals > 0 && text.charAt(end - 1) == '0') {
            end--;
        }
        return text.substring(0, decimals > 0 && text.charAt(end - 1) == '.' ? end - 1 : end);
    }
}
