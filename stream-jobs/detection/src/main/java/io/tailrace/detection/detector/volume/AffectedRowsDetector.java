package io.tailrace.detection.detector.volume;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.AbstractDetector;
import io.tailrace.detection.detector.AlertSample;
import io.tailrace.detection.detector.DetectorAlertFactory;
import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.detector.DetectorOptions;
import io.tailrace.detection.detector.DetectorState;
import io.tailrace.detection.detector.Explanation;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.detector.ObservedPeriod;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import io.tailrace.detection.event.BoundedText;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Detects an UPDATE or DELETE that changes far more rows than the statements of the last weeks on the same table. Small
 * statements are sampled by their event ids.
 */
public final class AffectedRowsDetector extends AbstractDetector<AffectedRowsDetector.State> {

    /**
     * Limits of usual statements.
     *
     * @param deviations number of deviations from the median of the largest statements of the days
     * @param atLeast number of rows up to which no statement is unusual
     * @param days number of days with statements from which on a table is known
     * @param learningMicros how long a table is learned
     */
    public record Limits(double deviations, double atLeast, int days, long learningMicros) {

        public static Limits of(DetectorOptions settings) {
            return new Limits(
                    settings.number("deviations", 6, 1, 100),
                    settings.number("min_amount", 1_000, 1, 1e12),
                    settings.whole("days", 3, 1, DailyHistory.DAYS),
                    settings.days("learning", 14));
        }
    }

    private static final byte VERSION = 1;
    private static final int SHARE = 8;
    private static final int NEVER = Integer.MIN_VALUE / 2;

    private final Limits limits;
    private final DetectorAlertFactory alerts;

    public AffectedRowsDetector(DetectorDefinition basis, Limits limits) {
        super(basis, State::new);
        this.limits = limits;
        this.alerts = new DetectorAlertFactory(basis.header(), List.of("cluster", "instance", "table"));
    }

    @Override
    public void observe(DetectionEvent event, Consumer<Observation> observations) {
        double rows = DetectorEventFields.number(event, "rows_affected");
        if (!SampledEvents.containsRows(event, rows, SHARE) || !isChange(event)) {
            return;
        }
        List<FieldValue> tables = event.values("table_written");
        if (tables.isEmpty() || DetectorEventFields.hasFailed(event) || basis.isExcepted(event)) {
            return;
        }
        String cluster = DetectorEventFields.cluster(event);
        String instance = DetectorEventFields.instanceAlone(event);
        List<String> values = List.of(DetectorEventFields.text(event, "verb"), DetectorEventFields.text(event, "user"));
        // The rows of a statement on several tables cannot be assigned to one of them.
        if (tables.size() == 1) {
            List<String> entity =
                    List.of(cluster, instance, BoundedText.of(tables.get(0).text()));
            observations.accept(
                    basis.observation(event, event.actionId(), entity, values, CountedEvents.bounded(rows)));
        }
    }

    private static boolean isChange(DetectionEvent event) {
        String verb = DetectorEventFields.text(event, "verb");
        return "UPDATE".equals(verb) || "DELETE".equals(verb);
    }

    /** The largest statement of each day on a table. */
    static final class State implements DetectorState {

        private final ObservedPeriod observed = new ObservedPeriod();
        private DailyHistory largest = new DailyHistory();
        private int firedDay = NEVER;

        @Override
        public long latestMicros() {
            return observed.latest();
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeByte(VERSION);
            observed.write(out);
            largest.write(out);
            out.writeInt(firedDay);
        }

        @Override
        public void read(DataInput in) throws IOException {
            DetectorDefinition.requireVersion(in, VERSION);
            observed.read(in);
            largest = DailyHistory.read(in);
            firedDay = in.readInt();
        }
    }

    @Override
    protected boolean apply(State state, Observation observation, Consumer<RaisedAlert> out) {
        int day = (int) Math.floorDiv(observation.micros(), ExpiringValueSet.DAY);
        state.observed.extend(observation.micros());
        if (!state.largest.turnTo(day)) {
            return true;
        }
        double rows = observation.amount();
        if (rows > limits.atLeast
                && state.firedDay != day
                && state.observed.hasLasted(limits.learningMicros, observation.micros())) {
            DailyHistory.Baseline past = state.largest.baseline(day, limits.deviations, limits.atLeast);
            if (past.days() >= limits.days && rows > past.threshold()) {
                state.firedDay = day;
                out.accept(alert(observation, past, day));
            }
        }
        if (rows > state.largest.amount(day)) {
            state.largest.set(day, rows);
        }
        return true;
    }

    private RaisedAlert alert(Observation observation, DailyHistory.Baseline past, int day) {
        String verb = observation.values().get(0);
        String user = observation.values().get(1);
        Map<String, String> facts = new TreeMap<>();
        facts.put("rows_affected", Long.toString(Math.round(observation.amount())));
        past.describe(facts);
        facts.put("verb", verb);
        if (!user.isEmpty()) {
            facts.put("user", user);
        }
        facts.put(
                Explanation.FACT,
                String.format(
                        "%s of %s changed %s rows of %s; at most %s were expected, because the largest change of a day"
                                + " has a median of %s on %s.",
                        verb,
                        user.isEmpty() ? "an unknown account" : user,
                        Explanation.number(observation.amount()),
                        observation.entity().get(2),
                        Explanation.number(past.threshold()),
                        Explanation.number(past.median()),
                        Explanation.number(past.days(), "earlier day")));
        return alerts.alert(
                observation,
                Integer.toString(day),
                observation.micros(),
                Math.round(observation.amount()),
                List.of(AlertSample.of(observation)),
                facts);
    }
}
