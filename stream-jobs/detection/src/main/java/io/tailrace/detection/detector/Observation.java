package io.tailrace.detection.detector;

import io.tailrace.detection.history.InstanceHistory;
import io.tailrace.detection.history.ShortHistory;
import java.util.List;

/**
 * The values that a detector extracts from one event, before its state is known. It contains simple types only, so that
 * any engine can send it to the state of its entity.
 *
 * @param detector key of the detector: {@link StatefulDetector#key()}
 * @param entity entity whose state changes; together with the detector the key of the state
 * @param values observed values, as the detector defines them: a program, tables, a place
 * @param amount amount that is summed, such as rows; 0 if none is
 * @param micros event time, microseconds since 1970 UTC
 * @param eventId id of the event
 * @param actionId the same for all events that record one action in several logs
 * @param statement statement without its literals, at most 500 characters; empty if there is none
 * @param late the event arrived after the allowed lateness
 * @param history full days of the log of the instance before the event, see {@link ShortHistory#days}
 */
public record Observation(
        String detector,
        List<String> entity,
        List<String> values,
        double amount,
        long micros,
        String eventId,
        String actionId,
        String statement,
        boolean late,
        int history) {

    public Observation(
            String detector,
            List<String> entity,
            List<String> values,
            double amount,
            long micros,
            String eventId,
            String actionId,
            String statement,
            boolean late) {
        this(detector, entity, values, amount, micros, eventId, actionId, statement, late, InstanceHistory.LONG);
    }

    /**
     * Returns a copy for another entity: state may belong to all users of a cluster while an alert is about one of
     * them.
     */
    public Observation withEntity(List<String> other) {
        return new Observation(detector, other, values, amount, micros, eventId, actionId, statement, late, history);
    }

    /** Returns a copy with the days of history by which the event is judged. */
    public Observation withHistory(int days) {
        return new Observation(detector, entity, values, amount, micros, eventId, actionId, statement, late, days);
    }

    /** Returns a copy for an event that arrived after the allowed lateness. */
    public Observation asLate() {
        return new Observation(detector, entity, values, amount, micros, eventId, actionId, statement, true, history);
    }
}
