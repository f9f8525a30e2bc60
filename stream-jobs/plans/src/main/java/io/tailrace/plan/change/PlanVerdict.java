package io.tailrace.plan.change;

/** What a change of plan did to a statement. */
public enum PlanVerdict {
    /** Not enough executions yet. */
    PENDING,
    SLOWER,
    FASTER,
    NO_DIFFERENCE,
    /** There were too few executions, before the change or after it; {@link DetectedPlanChange#reason()} says which. */
    UNKNOWN
}
