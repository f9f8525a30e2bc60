package io.tailrace.plan.change;

/** How it is known which plan an execution had. */
public enum PlanBasis {
    /** The log names the plan of each execution. */
    LOGGED,
    /** The plan was captured now and then: an execution counts for the one that was captured last before it. */
    CAPTURED
}
