package io.tailrace.detection.detector.pipeline;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorState;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.detector.StatefulDetector;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.rule.RuleHeader;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/**
 * A detector that monitors the pipeline itself by the census and the ledger instead of events. It is configured, pushed
 * and rejected like all others. The job passes its input; it has none when files are read on the command line.
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

    /** Returns whether the exceptions name a server. */
    public final boolean isExcepted(String cluster, String instance) {
        return basis.isExcepted(DetectionEvent.builder("", 0, LogSource.ANY)
                .text("cluster", cluster)
                .text("instance", instance)
                .build());
    }

    /** Returns what an alert is about, which is no event. `micros` since 1970 UTC. */
    final Observation observation(List<String> entity, long micros) {
        return new Observation(key(), entity, List.of(), 0, micros, "", "", "", false);
    }

    @Override
    public final void observe(DetectionEvent event, Consumer<Observation> observations) {
        // Events contain no information about missing data.
    }

    /** Empty state, because no entity of an event is remembered. */
    private static final class Nothing implements DetectorState {

        @Override
        public long latestMicros() {
            return Long.MIN_VALUE;
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeByte(VERSION);
        }

        @Override
        public void read(DataInput in) throws IOException {
            DetectorDefinition.requireVersion(in, VERSION);
        }
    }

    @Override
    public final DetectorState newState() {
        return new Nothing();
    }

    @Override
    public final DetectorState readState(DataInput in) throws IOException {
        DetectorState state = newState();
        state.read(in);
        return state;
    }

    @Override
    public final boolean update(DetectorState state, Observation observation, Consumer<RaisedAlert> alerts) {
        return false;
    }
}
