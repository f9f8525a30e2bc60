package io.tailrace.flink.clickhouse;

/** What became of one attempt to insert a block. */
sealed interface InsertResult {

    /** The block is stored, now or by an earlier attempt. */
    record Stored() implements InsertResult {}

    /**
     * The block's data cannot be stored, now or later.
     *
     * @param reason ClickHouse's error code and its name; holds no data
     */
    record Refused(String reason) implements InsertResult {}

    /**
     * The block may be stored later: the server is away or overloaded, or it is configured in another way than the
     * job.
     *
     * @param reason what was found, for an operator
     */
    record Unavailable(String reason) implements InsertResult {}
}
