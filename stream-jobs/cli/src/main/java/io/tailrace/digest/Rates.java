package io.tailrace.digest;

/** How often something came. */
final class Rates {

    private static final double MINUTE = 60;
    private static final double HOUR = 3_600;

    private Rates() {}

    /** So many in so many seconds: per second, minute or hour, whichever gives a figure above 1. */
    static String of(double count, double seconds) {
        double perSecond = count / Math.max(1, seconds);
        if (perSecond >= 1) {
            return Figures.number(perSecond) + "/s";
        }
        return perSecond >= 1 / MINUTE
                ? Figures.number(perSecond * MINUTE) + "/min"
                : Figures.number(perSecond * HOUR) + "/h";
    }
}
