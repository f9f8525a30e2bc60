package io.tailrace.plan;

/** What a node of a plan does with the rows of its inputs. */
public enum Operation {
    /** A SELECT of its own: {@code query_block} of version 1 and MariaDB. Version 2 has none around the whole. */
    QUERY_BLOCK("query block"),
    /** Reads rows of a table, or of what stands for one, such as {@code <derived2>}. */
    TABLE("table"),
    /** Joins its inputs, in their order. */
    JOIN("join"),
    /** Keeps the rows that meet its conditions. */
    FILTER("filter"),
    /** ORDER BY; without {@link PlanFlag#FILESORT} an index gives the order. */
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
    /** Collects its rows, so that locks are released or none is met again after it was changed. */
    BUFFER("buffer"),
    /** Rows pass without being stored, where they otherwise would be. */
    STREAM("stream"),
    UNION("union"),
    INTERSECT("intersect"),
    EXCEPT("except"),
    /** Merges row ids of several index scans of one table. */
    INDEX_MERGE("index merge"),
    /** Remembers a subquery's results by its parameters (MariaDB). */
    SUBQUERY_CACHE("subquery cache"),
    INSERT("insert"),
    UPDATE("update"),
    DELETE("delete"),
    REPLACE("replace"),
    /** Rows that were known before execution: constant tables, or no table at all. */
    CONSTANT_ROWS("constant rows"),
    /** No row can come out, as the optimizer knows. */
    ZERO_ROWS("no rows"),
    /** The server can run it but not describe it in this format. */
    NOT_DESCRIBED("not described"),
    /** An operation of a version that this one does not know; {@link PlanNode#detail} has the server's name for it. */
    OTHER("other");

    private final String label;

    Operation(String label) {
        this.label = label;
    }

    /** As people read it. */
    public String label() {
        return label;
    }
}
