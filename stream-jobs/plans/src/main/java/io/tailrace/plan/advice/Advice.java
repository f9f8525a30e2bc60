package io.tailrace.plan.advice;

/**
 * A proposal for a change, which is never applied automatically.
 *
 * @param kind subject of the advice
 * @param table the table's name in the statement; may be empty
 * @param text what to try
 * @param evidence the reason in the plan
 */
public record Advice(Kind kind, String table, String text, String evidence) {

    /** Subjects of advice. */
    public enum Kind {
        /** No index exists for the condition that selects a table's rows. */
        MISSING_INDEX,
        /** The optimizer knows an index and reads all rows nevertheless. */
        UNUSED_INDEX,
        /** All rows of a large table are read without a condition. */
        FULL_SCAN,
        /** A function of a column is compared, or a pattern starts with a wildcard: an index cannot be used. */
        NON_SARGABLE,
        /** A column is converted before it is compared. */
        IMPLICIT_CONVERSION,
        /**
         * The whole index is read although a condition applies to one of its columns, because this is not the leading
         * one.
         */
        UNUSED_LEADING_KEY_PART,
        FILESORT,
        TEMPORARY_TABLE
    }
}
