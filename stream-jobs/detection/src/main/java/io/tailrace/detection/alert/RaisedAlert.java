package io.tailrace.detection.alert;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.sigma.rule.Level;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.identity.Murmur3;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * An alert of a rule that fired.
 *
 * @param id 32 hexadecimal digits; the same for the same events in the same order
 * @param micros event time of the event that made the rule fire, microseconds since 1970 UTC
 * @param windowFrom event time at which the evidence begins, microseconds since 1970 UTC
 * @param entity subject of the alert: the fields that a correlation groups by, with their values
 * @param metric number that the rule counted within its window; 1 for a rule over single events
 * @param eventIds ids of the evidence, oldest first, at most {@link #MAX_EVENTS}; if the rule counts alerts, their
 *     {@link #evidenceId}
 * @param statements statements of the evidence without their literals: at most {@link #MAX_STATEMENTS} of at most
 *     {@link #MAX_STATEMENT_LENGTH} characters; the last one made the rule fire
 * @param facts further reasons, such as counts, the baseline and new values; keys are field names of the taxonomy where
 *     one exists
 * @param late the event arrived after the allowed lateness, when other events of its time may have been forgotten
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

    /** Maximum number of events in the evidence of an alert. */
    public static final int MAX_EVENTS = 100;
    /** Maximum number of statements in the evidence of an alert. */
    public static final int MAX_STATEMENTS = 5;
    /** Maximum length of a statement and of a fact, in characters. */
    public static final int MAX_STATEMENT_LENGTH = 500;

    /**
     * Returns the alert of a rule over single events. Its id is the same for all events of one action.
     *
     * @param entity as {@link #entity()}
     * @param late as {@link #late()}
     */
    public static RaisedAlert ofEvent(RuleHeader rule, DetectionEvent event, Map<String, String> entity, boolean late) {
        Murmur3 hash = new Murmur3();
        String id = HexFormat.of()
                .formatHex(hash.update(rule.key()).update(event.actionId()).digest());
        return new RaisedAlert(
                id,
                rule,
                event.micros(),
                event.micros(),
                entity,
                1,
                List.of(event.id()),
                statements(event),
                Map.of(),
                late);
    }

    /**
     * Returns the id by which an alert that counts this one names it: its own if it is raised, otherwise that of the last event of
     * its evidence, because nobody can look up an alert that is not raised.
     *
     * @param isRaised whether the rule raises alerts itself
     */
    public String evidenceId(boolean isRaised) {
        return isRaised || eventIds.isEmpty() ? id : eventIds.get(eventIds.size() - 1);
    }

    /** Returns a copy with other statements. */
    public RaisedAlert withStatements(List<String> others) {
        return new RaisedAlert(id, rule, micros, windowFrom, entity, metric, eventIds, others, facts, late);
    }

    /** Returns a copy with another level and further facts. */
    public RaisedAlert at(Level level, Map<String, String> reasons) {
        Map<String, String> all = new TreeMap<>(facts);
        all.putAll(reasons);
        return new RaisedAlert(id, rule.at(level), micros, windowFrom, entity, metric, eventIds, statements, all, late);
    }

    /** Returns the statement of an event as evidence; empty if it has none. */
    public static List<String> statements(DetectionEvent event) {
        List<FieldValue> values = event.values("statement");
        return values.isEmpty() ? List.of() : List.of(shortened(values.get(0).text()));
    }

    /** Truncates a text to the maximum length of a statement. */
    public static String shortened(String text) {
        return text.length() <= MAX_STATEMENT_LENGTH ? text : text.substring(0, MAX_STATEMENT_LENGTH - 1) + '…';
    }
}
