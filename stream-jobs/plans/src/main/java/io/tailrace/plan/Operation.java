package io.tailrace.plan;

/** What a node of a plan does with the rows of its inputs. */
public enum Operation {
    /** A SELECT: {@code query_block} of version 1 and MariaDB. Version 2 has none around the whole plan. */
    QUERY_BLOCK("query block"),
    /** Reads rows of a table, or of an internal table such as {@code <derived2>}. */
    TABLE("table"),
    /** Joins its inputs, in their order. */
    JOIN("join"),
    /** Keeps the rows that meet its conditions. */
    FILTER("filter"),
    /** ORDER BY. Without {@link PlanFlag#FILESORT}, an index provides the order. */
    SORT("sort"),
    /** GROUP BY or aggregate functions. */
    AGGREGATE("aggregate"),
    /** Drops duplicate rows: DISTINCT, or the rows of a semijoin. */
    DISTINCT("distinct"),
    /** Window functions. */
    WINDOW("window"),
    LIMIT("limit"),
    /** Writes its rows into a temporary table. */
    TEMPORARY_TABLE("temporary table"),
    /** Writes the rows of a derived table, a subquery, a common table expression or a UNION into a temporary table. */
    MATERIALIZE("materialize"),
    /** Collects its rows, so that locks are released, or so that no row is read again after it was changed. */
    BUFFER("buffer"),
    /** Passes rows on without storing them, in a place where they would otherwise be stored. */
    STREAM("stream"),
    UNION("union"),
    INTERSECT("intersect"),
    EXCEPT("except"),
    /** Merges row ids of several index scans of one table. */
    INDEX_MERGE("index merge"),
    /** Caches a subquery's results by its parameters (MariaDB). */
    SUBQUERY_CACHE("subquery cache"),
    INSERT("insert"),
    UPDATE("update"),
    DELETE("delete"),
    REPLACE("replace"),
    /** Rows that are known before execution: constant tables, or no table. */
    CONSTANT_ROWS("constant rows"),
    /** The optimizer has determined that no row can result. */
    ZERO_ROWS("no rows"),
    /** The server can execute the operation but not describe it in this format. */
    NOT_DESCRIBED("not described"),
    /** An operation of an unknown version; {@link PlanNode#detail} contains the server's name. */
    OTHER("other");

    private final String label;

    Operation(String label) {
        this.label = label;
    }

    /** Returns the name for display. */
    public String label() {
        return label;
    }
}
