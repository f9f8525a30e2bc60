package io.tailrace.detection.detector;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.sigma.RuleHeader;
import java.io.DataInput;
import java.io.IOException;
import java.util.function.Consumer;

/**
 * A detector that remembers, in two halves: what it takes from an event needs no state and may run anywhere; what it
 * makes of that runs where the state of the entity is. Used by one thread.
 *
 * <p>The same observations of an entity in the same order give the same alerts with the same ids, also when the state
 * was written and read in between.
 */
public interface StatefulDetector {

    /** How far a server's clock may be ahead, microseconds: a day, which wrong time zones need. */
    long MAX_AHEAD_MICROS = 86_400_000_000L;

    /**
     * Whether an event must not be observed: one event with a year too many would end learning and empty all that is
     * known of its time.
     */
    static boolean isInFuture(long micros, long nowMicros) {
        return micros - nowMicros > MAX_AHEAD_MICROS;
    }

    /** What it says about itself; its alerts look like a rule's. */
    RuleHeader header();

    /** What distinguishes it from all other detectors and rules. */
    default String key() {
        return header().key();
    }

    /** Takes from an event what it is about; nothing where the detector has no use for it. */
    void observe(DetectionEvent event, Consumer<Observation> observations);

    /** The state of an entity that was never seen. */
    DetectorState newState();

    /**
     * Makes of an observation what it means for its entity.
     *
     * @param state of the entity, by this detector; it is changed
     * @return whether the state was changed and must be kept
     */
    boolean update(DetectorState state, Observation observation, Consumer<RaisedAlert> alerts);

    /** Reads what {@link DetectorState#write} wrote. Throws IOException where the version is another one. */
    DetectorState readState(DataInput in) throws IOException;

    /** How long an entity is remembered without events, microseconds of event time. */
    long ttlMicros();

    /** Whether so much time has passed that the entity counts as never seen. */
    default boolean isForgotten(DetectorState state, long micros) {
        return state.latestMicros() != Long.MIN_VALUE && micros - state.latestMicros() > ttlMicros();
    }
}
