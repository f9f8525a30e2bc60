package io.tailrace.detection.alert;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
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
 * @param eventIds of the evidence, oldest first, at most {@link #MAX_EVENTS}; ids of alerts where the rule counts them
 * @param statements of the evidence, without their literals: at most {@link #MAX_STATEMENTS} of at most
 *     {@link #MAX_STATEMENT_LENGTH} characters; the one that made it fire is the last
 * @param facts what else tells why: counts, the baseline, what was new; names of the taxonomy where they are fields
 * @param late the event came later than the allowed lateness: others of its time may have been forgotten
 */
public record RaisedAlert(
        String id,
        RuleHeader rule,
        long micros,
        long windowFrom,
        Map<String, String> entity,
        long metric,
        List<String> eventIds,
        List<String> statements,
        Map<String, String> facts,
        boolean late) {

    /** Events of one alert's evidence. */
    public static final int MAX_EVENTS = 100;
    /** Statements of one alert's evidence. */
    public static final int MAX_STATEMENTS = 5;
    /** Characters of a statement, and of a fact. */
    public static final int MAX_STATEMENT_LENGTH = 500;

    /** The statement of an event, as evidence; none where it has none. */
    public static List<String> statements(DetectionEvent event) {
        List<FieldValue> values = event.values("statement");
        return values.isEmpty() ? List.of() : List.of(shortened(values.get(0).text()));
    }

    /** The beginning of a text that is too long for an alert. */
    public static String shortened(String text) {
        return text.length() <= MAX_STATEMENT_LENGTH ? text : text.substring(0, MAX_STATEMENT_LENGTH - 1) + '…';
    }
}
