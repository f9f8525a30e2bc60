package io.tailrace.detection.detector;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.sigma.rule.RuleHeader;
import java.io.DataInput;
import java.io.IOException;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A detector with state, in two halves. {@link #observe} needs no state and may run anywhere; {@link #update} runs
 * where the state of the entity is stored. Not thread-safe.
 *
 * <p>The same observations of an entity in the same order cause the same alerts with the same ids, also if the state
 * was written and read in between.
 */
public interface StatefulDetector {

    /** How far a server's clock may be ahead, in microseconds: one day, because time zones can be wrong. */
    long MAX_AHEAD_MICROS = 86_400_000_000L;

    /**
     * Returns whether an event must be ignored: a single event with a year in the future would end learning and expire
     * all values.
     */
    static boolean isInFuture(long micros, long nowMicros) {
        return micros - nowMicros > MAX_AHEAD_MICROS;
    }

    /** Returns the texts of its alerts, in the form of a rule's. */
    RuleHeader header();

    /** Returns a key that is unique among all detectors and rules. */
    default String key() {
        return header().key();
    }

    /** Returns the names of rules whose alerts this detector also raises: they raise none while it is enabled. */
    default Set<String> replacedRules() {
        return Set.of();
    }

    /** Extracts the observations of an event; none if the detector does not use it. */
    void observe(DetectionEvent event, Consumer<Observation> observations);

    /** Returns the state of an entity that was never seen. */
    DetectorState newState();

    /**
     * Applies an observation to the state of its entity.
     *
     * @param state state of this detector for the entity, which is modified
     * @return whether the state was changed and must be stored
     */
    boolean update(DetectorState state, Observation observation, Consumer<RaisedAlert> alerts);

    /** Reads the output of {@link DetectorState#write}. Throws IOException if the version is not supported. */
    DetectorState readState(DataInput in) throws IOException;

    /** Returns how long an entity without events is remembered, in microseconds of event time. */
    long ttlMicros();

    /** Returns whether so much time has passed that the entity counts as never seen. */
    default boolean isForgotten(DetectorState state, long micros) {
        return state.latestMicros() != Long.MIN_VALUE && micros - state.latestMicros() > ttlMicros();
    }
}
