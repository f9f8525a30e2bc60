package io.tailrace.detection.detector.pipeline;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorState;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.detector.StatefulDetector;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.RuleHeader;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.function.Consumer;

/**
 * A detector that watches the pipeline itself: what the census and the ledger say, and no events. It is configured, pushed
 * and refused like all others; the job feeds it, and files read by hand have nothing for it.
 */
abstract class PipelineDetector implements StatefulDetector {

    private static final byte VERSION = 1;

    private final DetectorDefinition basis;

    PipelineDetector(DetectorDefinition basis) {
        this.basis = basis;
    }

    @Override
    public final RuleHeader header() {
        return basis.header();
    }

    @Override
    public long ttlMicros() {
        return basis.ttlMicros();
    }

    /** Whether the exceptions name a server. */
    public final boolean isExcepted(String cluster, String instance) {
        return basis.isExcepted(DetectionEvent.builder("", 0, LogSource.ANY)
                .text("cluster", cluster)
                .text("instance", instance)
                .build());
    }

    @Override
    public final void observe(DetectionEvent event, Consumer<Observation> observations) {
        // Events say nothing of what is missing.
    }

    /** Nothing is known of entities of events. */
    private static final class Nothing implements DetectorState {

        @Override
        public long latestMicros() {
            return Long.MIN_VALUE;
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeByte(VERSION);
        }
    }

    @Override
    public final DetectorState newState() {
        return new Nothing();
    }

    @Override
    public final DetectorState readState(DataInput in) throws IOException {
        DetectorDefinition.requireVersion(in, VERSION);
        return new Nothing();
    }

    @Override
    public final boolean update(DetectorState state, Observation observation, Consumer<RaisedAlert> alerts) {
        return false;
    }
}
