package io.tailrace.cli.digest.report;

import io.tailrace.cli.digest.render.NumberFormatter;

/** Formats rates. */
final class Rates {

    private static final double MINUTE = 60;
    private static final double HOUR = 3_600;

    private Rates() {}

    /** Returns a count per second, minute or hour, whichever results in a number above 1. */
    static String of(double count, double seconds) {
        double perSecond = count / Math.max(1, seconds);
        if (perSecond >= 1) {
            return NumberFormatter.number(perSecond) + "/s";
        }
        return perSecond >= 1 / MINUTE
                ? NumberFormatter.number(perSecond * MINUTE) + "/min"
                : NumberFormatter.number(perSecond * HOUR) + "/h";
    }

    /** Returns the average number of concurrent statements, given their total duration. */
    static String load(double time, double seconds) {
        double load = time / Math.max(1, seconds);
        return load > 0 && load < 0.005 ? "<0.01" : NumberFormatter.number(load);
    }
}
