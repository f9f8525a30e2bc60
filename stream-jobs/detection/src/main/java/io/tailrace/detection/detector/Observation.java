package io.tailrace.detection.detector;

import java.util.List;

/**
 * What a detector takes from one event, before its state is known. Holds simple types only, so that any engine can
 * send it to where the state of its entity is.
 *
 * @param detector key of the detector: {@link StatefulDetector#key()}
 * @param entity whose state it changes; the state's key together with the detector
 * @param values what was seen, as the detector means them: a program, tables, a place
 * @param amount what is added up, such as rows; 0 where nothing is
 * @param micros event time, microseconds since 1970 UTC
 * @param eventId the event
 * @param actionId the same for all events that record one action in several logs
 * @param statement without its literals, at most 500 characters; empty where there is none
 * @param late the event came later than the allowed lateness
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
        boolean late) {

    /** The same, about another entity: state may be of all users of a cluster where an alert is about one of them. */
    public Observation withEntity(List<String> other) {
        return new Observation(detector, other, values, amount, micros, eventId, actionId, statement, late);
    }

    /** The same, of an event that came later than the allowed lateness. */
    public Observation asLate() {
        return new Observation(detector, entity, values, amount, micros, eventId, actionId, statement, true);
    }
}
