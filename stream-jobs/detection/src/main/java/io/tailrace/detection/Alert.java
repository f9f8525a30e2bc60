package io.tailrace.detection;

import io.tailrace.detection.sigma.RuleHeader;
import java.util.List;
import java.util.Map;

/**
 * A rule that fired.
 *
 * @param id the same whenever the same events are seen in the same order: 32 hexadecimal digits
 * @param micros event time of the event that made it fire, microseconds since 1970 UTC
 * @param windowFrom event time at which the evidence begins, microseconds since 1970 UTC
 * @param entity what the rule is about: the fields that a correlation groups by, with their values
 * @param metric what the rule counted within its window; 1 for a rule over single events
 * @param eventIds of the evidence, oldest first, at most {@link #MOST_EVENTS}; ids of alerts where the rule counts them
 * @param late the event came later than the allowed lateness: others of its time may have been forgotten
 */
public record Alert(
        String id,
        RuleHeader rule,
        long micros,
        long windowFrom,
        Map<String, String> entity,
        long metric,
        List<String> eventIds,
        boolean late) {

    /** Events of one alert's evidence. */
    public static final int MOST_EVENTS = 100;
}
