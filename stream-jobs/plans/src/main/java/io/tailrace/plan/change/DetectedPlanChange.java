package io.tailrace.plan.change;

/**
 * A plan change of a statement.
 *
 * @param basis source from which its plans are known
 * @param oldPlan hash of its plan before
 * @param newPlan hash of its plan since
 * @param oldSeenMicros time of the last execution or capture with the old plan, microseconds since 1970 UTC; the plan
 *     changed after it; 0 if an earlier version of the state did not contain it
 * @param micros time of the first execution or capture with the new plan, microseconds since 1970 UTC
 * @param verdict PENDING when the change is reported first, another value when it is reported again
 * @param reason why the verdict is UNKNOWN; otherwise empty
 * @param verdictMicros time of the execution that decided the verdict, microseconds since 1970 UTC; 0 while pending
 * @param before the old plan's executions that are stored
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
     * @param count number of executions
     * @param median seconds; NaN if there are none
     * @param rowsExamined mean; NaN if there are none
     */
    public record Executions(long count, double median, double rowsExamined) {

        static Executions of(PlanLatencyHistory latencies) {
            return new Executions(latencies.executions(), latencies.all().median(), latencies.rowsExamined());
        }
    }

    /** Returns the ratio of the medians after and before the change; NaN if one side has no executions. */
    public double ratio() {
        return after.median() / before.median();
    }
}
