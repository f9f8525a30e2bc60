package io.tailrace.plan.advice;

/**
 * A notable property of one node.
 *
 * @param kind kind of the property
 * @param text description with the numbers
 */
public record Warning(Kind kind, String text) {

    /** Kinds of warnings, most severe first. */
    public enum Kind {
        FULL_SCAN,
        DEPENDENT_SUBQUERY,
        ESTIMATE_OFF,
        SORT_ON_DISK,
        JOIN_BUFFER,
        TEMPORARY_TABLE,
        FILESORT
    }
}
