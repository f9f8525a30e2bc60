package io.tailrace.plan.shape;

/**
 * One difference between two plans.
 *
 * @param kind kind of the difference
 * @param query the query of the plan: empty for the outermost, otherwise the table that it fills or {@code subquery},
 *     from outside to inside
 * @param subject the table, or what else changed
 * @param before the former state; empty for an addition
 * @param after the new state; empty for a removal
 */
public record PlanDifference(Kind kind, String query, String subject, String before, String after) {

    /** Kinds of differences. */
    public enum Kind {
        ADDED,
        REMOVED,
        CHANGED,
        /** The join order has changed. */
        REORDERED
    }
}
