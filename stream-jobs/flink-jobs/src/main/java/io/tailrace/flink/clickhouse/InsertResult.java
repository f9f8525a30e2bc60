package io.tailrace.flink.clickhouse;

/** The result of one attempt to insert a block. */
sealed interface InsertResult {

    /** The block is stored, by this attempt or an earlier one. */
    record Stored() implements InsertResult {}

    /**
     * The block cannot be stored because of its data.
     *
     * @param reason ClickHouse's error code and its name; contains no data
     */
    record Refused(String reason) implements InsertResult {}

    /**
     * The block may be stored later: the server is unavailable or overloaded, or its configuration does not match the
     * job.
     *
     * @param reason the cause, for an operator
     */
    record Unavailable(String reason) implements InsertResult {}
}
