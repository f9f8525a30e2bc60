package io.tailrace.plan.advice;

/**
 * Something to try, never done by itself.
 *
 * @param kind what it is about
 * @param table the table by the name of the statement; may be empty
 * @param text what to try
 * @param evidence what in the plan speaks for it
 */
public record Advice(Kind kind, String table, String text, String evidence) {

    /** What an advice is about. */
    public enum Kind {
        /** No index on what a table's rows are chosen by. */
        MISSING_INDEX,
        /** The optimizer knows an index and reads all rows nevertheless. */
        UNUSED_INDEX,
        /** All rows of a large table are read, and no condition says which. */
        FULL_SCAN,
        /** A function of a column, or a pattern that starts with a wildcard, is compared: no index helps. */
        NON_SARGABLE,
        /** A column is converted before it is compared. */
        IMPLICIT_CONVERSION,
        /** All of an index is read although a condition is on one of its columns: not its leading one. */
        UNUSED_LEADING_KEY_PART,
        FILESORT,
        TEMPORARY_TABLE
    }
}
