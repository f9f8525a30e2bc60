package io.tailrace.detection.sigma.rule;

import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses Sigma's timespans: a number and s, m, h, d, w, M or y. */
public final class Timespan {

    /** The expected format, for errors. */
    public static final String EXPECTED =
            "a timespan is expected to be a number and s, m, h, d, w, M or y, at most 366d";

    private static final Pattern TIMESPAN = Pattern.compile("([0-9]{1,9})([smhdwMy])");
    /** Units in seconds; month and year have the length that pySigma uses. */
    private static final Map<String, Long> UNIT_SECONDS =
            Map.of("s", 1L, "m", 60L, "h", 3600L, "d", 86_400L, "w", 604_800L, "M", 2_629_746L, "y", 31_556_952L);

    private static final long MICROS = 1_000_000;
    /** Limits the timespan, because state is stored for all of it. */
    private static final long MAX_SECONDS = 366 * 86_400L;

    private Timespan() {}

    /** Returns microseconds; empty if the text is not a timespan, or if it is 0 or more than 366 days. */
    public static OptionalLong micros(String written) {
        Matcher matcher = TIMESPAN.matcher(written);
        long seconds = matcher.matches() ? Long.parseLong(matcher.group(1)) * UNIT_SECONDS.get(matcher.group(2)) : 0;
        return seconds > 0 && seconds <= MAX_SECONDS ? OptionalLong.of(seconds * MICROS) : OptionalLong.empty();
    }
}
