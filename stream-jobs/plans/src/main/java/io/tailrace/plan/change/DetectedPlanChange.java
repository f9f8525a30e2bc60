package io.tailrace.plan.change;

/**
 * A statement has another plan than before.
 *
 * @param basis how its plans are known
 * @param oldPlan hash of its plan before
 * @param newPlan hash of its plan since
 * @param oldSeenMicros when the old plan was seen last, microseconds since 1970 UTC: the plan changed after that; 0
 *     where an earlier version of the state did not say
 * @param micros when the new plan was first seen, microseconds since 1970 UTC
 * @param verdict PENDING when the change is reported first, another value when it is reported again
 * @param reason why the verdict is UNKNOWN; else empty
 * @param verdictMicros when that was settled: the time of the execution that decided, microseconds since 1970 UTC; 0
 *     while pending
 * @param before the old plan's executions, those that are remembered
 * @param after the new plan's executions
 */
public record DetectedPlanChange(
        PlanBasis basis,
        String oldPlan,
        String newPlan,
        long oldSeenMicros,
        long micros,
        PlanVerdict verdict,
        String reason,
        long verdictMicros,
        Executions before,
        Executions after) {

    /**
     * Executions with one plan.
     *
     * @param count how many
     * @param median seconds; NaN where there are none
     * @param rowsExamined mean; NaN where there are none
     */
    public record Executions(long count, double median, double rowsExamined) {

        static Executions of(PlanLatencyHistory latencies) {
            return new Executions(latencies.executions(), latencies.all().median(), latencies.rowsExamined());
        }
    }

    /** How many times longer an execution takes, by medians; NaN where one side has none. */
    public double ratio() {
        return after.median() / before.median();
    }
}
