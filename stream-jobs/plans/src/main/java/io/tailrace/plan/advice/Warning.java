package io.tailrace.plan.advice;

/**
 * What deserves a look at one node.
 *
 * @param kind what it is
 * @param text in words, with the numbers
 */
public record Warning(Kind kind, String text) {

    /** What deserves a look, worst first. */
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
