package io.tailrace.plan.change;

/** The source from which the plan of an execution is known. */
public enum PlanBasis {
    /** The log contains the plan of each execution. */
    LOGGED,
    /** The plan is captured periodically: an execution is assigned to the latest capture before it. */
    CAPTURED
}
