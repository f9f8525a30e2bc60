package io.tailrace.detection.detector.pipeline;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.DetectorAlertFactory;
import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.event.PlanChange;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Detects a statement that is slower since its plan changed. The job compares the executions; this class defines the
 * threshold and the alert.
 */
public final class PlanRegressionDetector extends PipelineDetector {

    /** Default ratio of medians below which a change counts as no difference. */
    public static final double DEFAULT_RATIO = 1.25;

    private static final double MILLIS = 1000;

    private final double ratio;
    private final DetectorAlertFactory alerts;

    public PlanRegressionDetector(DetectorDefinition basis, double ratio) {
        super(basis);
        this.ratio = ratio;
        this.alerts = new DetectorAlertFactory(basis.header(), List.of("instance", "query_id"));
    }

    /** Returns the threshold as a ratio of medians, above 1. */
    public double ratio() {
        return ratio;
    }

    /**
     * Creates the alert of a change with the verdict slower. The id is derived from the change, so a repeated report is
     * the same alert.
     */
    public RaisedAlert alert(PlanChange change) {
        String queryId = String.format(Locale.ROOT, "%016X", change.getQueryId());
        long changed = micros(change.getChangedAt());
        return alerts.alert(
                observation(List.of(change.getInstance(), queryId), micros(change.getVerdictAt())),
                change.getNewPlan() + '/' + changed,
                changed,
                Math.round(change.getRatio()),
                List.of(),
                facts(change));
    }

    private static Map<String, String> facts(PlanChange change) {
        Map<String, String> facts = new TreeMap<>();
        facts.put("old_plan", change.getOldPlan());
        facts.put("new_plan", change.getNewPlan());
        facts.put("basis", change.getBasis());
        facts.put("changed_at", change.getChangedAt().toString());
        facts.put("ratio", rounded(change.getRatio()));
        facts.put("median_before_ms", rounded(MILLIS * change.getMedianBefore()));
        facts.put("median_after_ms", rounded(MILLIS * change.getMedianAfter()));
        facts.put("executions_before", Long.toString(change.getExecutionsBefore()));
        facts.put("executions_after", Long.toString(change.getExecutionsAfter()));
        facts.put("rows_examined_before", rounded(change.getRowsExaminedBefore()));
        facts.put("rows_examined_after", rounded(change.getRowsExaminedAfter()));
        return facts;
    }

    private static String rounded(double value) {
        return String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.0f", value);
    }

    private static long micros(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }
}
