package io.tailrace.plan;

/** Further properties of a node. */
public enum PlanFlag {
    /** Rows are sorted, in memory or on disk. */
    FILESORT("filesort"),
    /** The sort exceeded its buffer and wrote to disk (ANALYZE of MariaDB: r_sort_passes). */
    SORT_ON_DISK("sort on disk"),
    /** The sort kept only the first rows, because of LIMIT. */
    PRIORITY_QUEUE("priority queue"),
    TEMPORARY_TABLE("temporary table"),
    MATERIALIZED("materialized"),
    /** Rows of the preceding tables are collected in a buffer, so that this table is read once for many of them. */
    JOIN_BUFFER("join buffer"),
    /** All columns come from the index. */
    INDEX_ONLY("index only"),
    /** A part of the condition is checked in the index by the storage engine. */
    INDEX_CONDITION_PUSHDOWN("index condition pushdown"),
    /** Row ids are sorted before rows are read. */
    MULTI_RANGE_READ("multi-range read"),
    /** Only the first row of each group is read from the index. */
    INDEX_FOR_GROUP_BY("index for group-by"),
    BACKWARD_SCAN("backward scan"),
    /** Runs once for each row of the enclosing query. */
    DEPENDENT("dependent"),
    /** Its result must not be reused. */
    UNCACHEABLE("uncacheable"),
    LATERAL("lateral"),
    RECURSIVE("recursive"),
    /**
     * Rows are checked by an unknown condition after they are read: the rows of EXPLAIN state only that there is one.
     */
    FILTERED("where with unknown condition"),
    /** The access method is chosen again for each row of the preceding tables. */
    RANGE_CHECKED_FOR_EACH_RECORD("range checked for each record"),
    /** Reads the whole table if the outer value is NULL. */
    FULL_SCAN_ON_NULL_KEY("full scan on NULL key"),
    DISTINCT("distinct"),
    FIRST_MATCH("first match"),
    LOOSE_SCAN("loose scan"),
    NOT_EXISTS("not exists"),
    ROWID_FILTER("rowid filter"),
    /** A function creates the table, such as JSON_TABLE. */
    TABLE_FUNCTION("table function"),
    /** Materialized again for each row of another table. */
    REMATERIALIZE("rematerialize"),
    /** The constant table has no such row. */
    CONST_ROW_NOT_FOUND("const row not found"),
    INSERTED("inserted"),
    UPDATED("updated"),
    DELETED("deleted"),
    REPLACED("replaced");

    private final String label;

    PlanFlag(String label) {
        this.label = label;
    }

    /** Returns the name for display. */
    public String label() {
        return label;
    }
}
