package io.tailrace.detection.detector.activity;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.AbstractDetector;
import io.tailrace.detection.detector.AlertSample;
import io.tailrace.detection.detector.DetectorAlertFactory;
import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorState;
import io.tailrace.detection.detector.Explanation;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import io.tailrace.detection.detector.firstseen.ObservationCache;
import io.tailrace.detection.detector.firstseen.UserActivityObserver;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.sigma.rule.Level;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Detects the use of an account after a long pause. An account with similar pauses in the past, such as that of a
 * quarterly job, is not dormant.
 */
public final class DormantAccountDetector extends AbstractDetector<DormantAccountDetector.State> {

    private static final byte WITHOUT_DAYS = 1;
    private static final byte VERSION = 2;
    /** A pause is unusual if it is longer than the longest earlier one by this factor. */
    private static final double LONGER = 1.5;

    private final long dormantMicros;
    private final long shortMicros;
    private final ObservationCache recently = new ObservationCache(ExpiringValueSet.HOUR);
    private final DetectorAlertFactory alerts;
    private final DetectorAlertFactory ofShort;

    /**
     * @param dormantMicros pause that has the level of the detector, microseconds
     * @param shortMicros pause that has the level low, because holidays are as long, microseconds; it has the level of the
     *     detector for an account that was used on several days, but in a shorter time than the pause
     */
    public DormantAccountDetector(DetectorDefinition basis, long dormantMicros, long shortMicros) {
        super(basis, State::new);
        this.dormantMicros = dormantMicros;
        this.shortMicros = Math.min(shortMicros, dormantMicros);
        this.alerts = DetectorAlertFactory.ofUsers(basis.header());
        this.ofShort = DetectorAlertFactory.ofUsers(basis.header().at(Level.LOW));
    }

    @Override
    public void observe(DetectionEvent event, Consumer<Observation> observations) {
        UserActivityObserver.observe(event, basis, recently, observations);
    }

    /** The last use of an account and its longest pause. */
    static final class State implements DetectorState {

        private long latest = Long.MIN_VALUE;
        private long maxGap;
        /** Days from the first use to the latest one, at most 127; 127 in states of version 1. */
        private byte usedDays;

        @Override
        public long latestMicros() {
            return latest;
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeByte(VERSION);
            out.writeLong(latest);
            out.writeLong(maxGap);
            out.writeByte(usedDays);
        }

        @Override
        public void read(DataInput in) throws IOException {
            byte version = DetectorDefinition.requireVersion(in, WITHOUT_DAYS, VERSION);
            latest = in.readLong();
            maxGap = in.readLong();
            usedDays = version > WITHOUT_DAYS ? in.readByte() : Byte.MAX_VALUE;
        }

        private void use(long micros) {
            int passed = latest == Long.MIN_VALUE ? 0 : ExpiringValueSet.day(micros) - ExpiringValueSet.day(latest);
            usedDays = (byte) Math.min(Byte.MAX_VALUE, usedDays + passed);
        }

        /** Returns whether the account was used on several days, but not for as long as it was then unused. */
        private boolean wasBriefly(long gap) {
            return usedDays > 0 && gap > usedDays * ExpiringValueSet.DAY;
        }
    }

    @Override
    protected boolean apply(State state, Observation observation, Consumer<RaisedAlert> out) {
        // Only the first observation of an hour is certain to arrive, so others must change nothing.
        if (ExpiringValueSet.hour(observation.micros()) <= ExpiringValueSet.hour(state.latest)) {
            return false;
        }
        long gap = state.latest == Long.MIN_VALUE ? 0 : observation.micros() - state.latest;
        if (gap >= shortMicros && gap > LONGER * state.maxGap) {
            out.accept((gap >= dormantMicros || state.wasBriefly(gap) ? alerts : ofShort)
                    .alert(
                            observation,
                            Long.toString(state.latest / ExpiringValueSet.DAY),
                            state.latest,
                            gap / ExpiringValueSet.DAY,
                            List.of(AlertSample.of(observation)),
                            Map.of(
                                    "last_seen",
                                    DetectorAlertFactory.time(state.latest),
                                    "days",
                                    Long.toString(gap / ExpiringValueSet.DAY),
                                    "longest_gap_days",
                                    Long.toString(state.maxGap / ExpiringValueSet.DAY),
                                    Explanation.FACT,
                                    explanation(observation, gap, state.maxGap))));
        }
        state.use(observation.micros());
        state.maxGap = Math.max(state.maxGap, gap);
        state.latest = observation.micros();
        return true;
    }

    private String explanation(Observation observation, long gap, long maxGap) {
        long expected = Math.max(gap >= dormantMicros ? dormantMicros : shortMicros, (long) (LONGER * maxGap));
        return String.format(
                "%s is active after a pause of %s; at most %s were expected, because the longest earlier pause was %s.",
                observation.entity().get(2),
                Explanation.number(gap / ExpiringValueSet.DAY, "day"),
                Explanation.number(expected / ExpiringValueSet.DAY, "day"),
                Explanation.number(maxGap / ExpiringValueSet.DAY, "day"));
    }
}
