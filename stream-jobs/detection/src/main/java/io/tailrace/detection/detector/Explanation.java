package io.tailrace.detection.detector;

import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Locale;

/** Writes the sentence with which a behavioural alert explains itself: what was observed and what was expected. */
public final class Explanation {

    /** Name of the fact that contains the sentence. */
    public static final String FACT = "explanation";

    private static final long SECONDS_PER_DAY = 86_400;

    private Explanation() {}

    /** Formats a number with separators of thousands. */
    public static String number(double number) {
        return String.format(Locale.ROOT, "%,d", Math.round(number));
    }

    /** Formats a number with the right form of its noun, such as 1 day or 3 days. */
    public static String number(long number, String noun) {
        return number(number) + ' ' + noun + (number == 1 ? "" : "s");
    }

    /** Formats a day since 1970 as a date (UTC). */
    public static String day(long day) {
        return Instant.ofEpochSecond(day * SECONDS_PER_DAY)
                .atOffset(ZoneOffset.UTC)
                .toLocalDate()
                .toString();
    }
}
