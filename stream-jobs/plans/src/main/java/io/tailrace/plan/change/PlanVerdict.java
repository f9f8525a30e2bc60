package io.tailrace.plan.change;

/** The effect of a plan change on a statement. */
public enum PlanVerdict {
    /** Not enough executions so far. */
    PENDING,
    SLOWER,
    FASTER,
    NO_DIFFERENCE,
    /** There were too few executions before or after the change; {@link DetectedPlanChange#reason()} states which. */
    UNKNOWN
}
