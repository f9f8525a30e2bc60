package io.tailrace.plan.change;

/** What a change of plan did to a statement. */
public enum Verdict {
    /** Not enough executions yet, before the change or after it. */
    PENDING,
    SLOWER,
    FASTER,
    NO_DIFFERENCE
}
