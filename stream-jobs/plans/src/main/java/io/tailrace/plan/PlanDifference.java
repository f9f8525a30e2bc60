package io.tailrace.plan;

/**
 * One difference between two plans.
 *
 * @param kind what became of it
 * @param query which query of the plan it is in: empty for the outermost, else the table that it fills or
 *     {@code subquery}, from outside to inside
 * @param subject the table, or what else changed
 * @param before how it was; empty for what was added
 * @param after how it is; empty for what was removed
 */
public record PlanDifference(Kind kind, String query, String subject, String before, String after) {

    /** What became of it. */
    public enum Kind {
        ADDED,
        REMOVED,
        CHANGED,
        /** The tables are joined in another order. */
        REORDERED
    }
}
