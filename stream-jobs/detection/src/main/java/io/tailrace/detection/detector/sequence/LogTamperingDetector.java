package io.tailrace.detection.detector.sequence;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.AbstractDetector;
import io.tailrace.detection.detector.AlertSample;
import io.tailrace.detection.detector.DetectorAlertFactory;
import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.detector.DetectorState;
import io.tailrace.detection.detector.Explanation;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.event.DetectionEvent;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Detects a user who switches off, moves or purges a log and performs a suspicious operation within the window, as
 * another log or the same log shows. Rules in rules/tampering already report the tampering itself.
 */
public final class LogTamperingDetector extends AbstractDetector<LogTamperingDetector.State> {

    private static final byte VERSION = 1;
    private static final int MAX_STEPS = 4;
    private static final String TAMPERING = "tampering";
    /** Purged binary logs. Jobs that rotate passwords purge, too, and a password alone gives no rights. */
    private static final String PURGE = "purge";

    private static final String PASSWORD = "password";
    private static final String READ = "large_read";

    private final long windowMicros;
    private final double manyRows;
    private final DetectorAlertFactory alerts;

    /** @param manyRows number of rows from which on a statement is suspicious */
    public LogTamperingDetector(DetectorDefinition basis, long windowMicros, double manyRows) {
        super(basis, State::new);
        this.windowMicros = windowMicros;
        this.manyRows = manyRows;
        this.alerts = DetectorAlertFactory.ofUsers(basis.header());
    }

    @Override
    public void observe(DetectionEvent event, Consumer<Observation> observations) {
        if (event.values("user").isEmpty() || DetectorEventFields.hasFailed(event)) {
            return;
        }
        String step = step(event);
        if (!step.isEmpty() && !basis.isExcepted(event)) {
            List<String> entity = List.of(
                    DetectorEventFields.text(event, "cluster"),
                    DetectorEventFields.text(event, "instance"),
                    DetectorEventFields.text(event, "user"));
            observations.accept(basis.observation(event, entity, List.of(step)));
        }
    }

    private String step(DetectionEvent event) {
        if (PrivilegedOperation.isTampering(event)) {
            return PrivilegedOperation.isPurge(event) ? PURGE : TAMPERING;
        }
        if (PrivilegedOperation.isPasswordOnly(event)) {
            return PASSWORD;
        }
        Set<PrivilegedOperation> operations = PrivilegedOperation.of(event);
        for (PrivilegedOperation operation : operations) {
            if (operation != PrivilegedOperation.SERVER) {
                return operation.key();
            }
        }
        return DetectorEventFields.number(event, "rows_sent") >= manyRows ? READ : "";
    }

    /** The latest steps of both kinds, because events arrive out of order. */
    static final class State implements DetectorState {

        private long latest = Long.MIN_VALUE;
        private long fired = Long.MIN_VALUE / 2;
        private final List<Step> tampering = new ArrayList<>(MAX_STEPS);
        private final List<Step> operations = new ArrayList<>(MAX_STEPS);

        @Override
        public long latestMicros() {
            return latest;
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeByte(VERSION);
            out.writeLong(latest);
            out.writeLong(fired);
            write(tampering, out);
            write(operations, out);
        }

        @Override
        public void read(DataInput in) throws IOException {
            DetectorDefinition.requireVersion(in, VERSION);
            latest = in.readLong();
            fired = in.readLong();
            read(tampering, in);
            read(operations, in);
        }

        private static void write(List<Step> steps, DataOutput out) throws IOException {
            out.writeByte(steps.size());
            for (Step step : steps) {
                out.writeUTF(step.kind);
                step.evidence.write(out);
            }
        }

        private static void read(List<Step> steps, DataInput in) throws IOException {
            for (int left = in.readByte(); left > 0; left--) {
                steps.add(new Step(in.readUTF(), AlertSample.read(in)));
            }
        }
    }

    private record Step(String kind, AlertSample evidence) {}

    @Override
    protected boolean apply(State state, Observation observation, Consumer<RaisedAlert> out) {
        state.latest = Math.max(state.latest, observation.micros());
        String kind = observation.values().get(0);
        Step step = new Step(kind, AlertSample.of(observation).shortened());
        if (TAMPERING.equals(kind) || PURGE.equals(kind)) {
            add(state.tampering, step);
            for (Step after : state.operations) {
                compare(state, step, after, observation, out);
            }
        } else {
            add(state.operations, step);
            for (Step before : state.tampering) {
                compare(state, before, step, observation, out);
            }
        }
        return true;
    }

    /** A full list loses its oldest purge before another step: purges in a row must not hide a log that is off. */
    private static void add(List<Step> steps, Step step) {
        if (steps.size() == MAX_STEPS) {
            int purge = 0;
            while (purge < MAX_STEPS && !PURGE.equals(steps.get(purge).kind)) {
                purge++;
            }
            steps.remove(purge % MAX_STEPS);
        }
        steps.add(step);
    }

    /** One of the steps is new: a chain that was reported before would be reported again, at the time of another event. */
    private void compare(State state, Step before, Step after, Observation observation, Consumer<RaisedAlert> out) {
        long since = after.evidence.micros() - before.evidence.micros();
        boolean apart = Math.abs(after.evidence.micros() - state.fired) > windowMicros;
        boolean isRotation = PURGE.equals(before.kind) && PASSWORD.equals(after.kind);
        if (since < 0 || since > windowMicros || !apart || isRotation) {
            return;
        }
        state.fired = after.evidence.micros();
        out.accept(alerts.alert(
                observation,
                before.evidence.eventId(),
                before.evidence.micros(),
                2,
                List.of(before.evidence, after.evidence),
                Map.of(
                        "operation",
                        after.kind,
                        "tampered_at",
                        DetectorAlertFactory.time(before.evidence.micros()),
                        "done_at",
                        DetectorAlertFactory.time(after.evidence.micros()),
                        Explanation.FACT,
                        explanation(observation, after, since))));
    }

    private String explanation(Observation observation, Step after, long since) {
        return String.format(
                "%s performed the operation %s %s minutes after tampering with a log; none is expected within %s minutes.",
                observation.entity().get(2),
                after.kind,
                Explanation.number(since / 6e7),
                Explanation.number(windowMicros / 6e7));
    }
}
