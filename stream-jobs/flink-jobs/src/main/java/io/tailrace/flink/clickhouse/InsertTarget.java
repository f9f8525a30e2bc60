package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import java.io.Serializable;

/** The target of inserts. Thread-safe. */
interface InsertTarget {

    /** Creates the target in the process that uses it. */
    @FunctionalInterface
    interface Factory extends Serializable {
        InsertTarget create();
    }

    /**
     * Inserts a block unless a block with the same token was inserted before. Blocks the thread for at most some
     * minutes.
     *
     * @throws InterruptedException if the job is being stopped; the block may or may not be stored then
     */
    InsertResult insert(PendingBlock block) throws InterruptedException;

    /**
     * Inserts a block of which an earlier attempt may have stored a part. It is stored when two attempts in a row
     * succeed: ClickHouse 26.7 also answers with success when the attempt waited for rows of a replica that died, at the
     * moment at which the other replicas give these rows up. The next attempt then stores them.
     *
     * @throws InterruptedException as {@link #insert}
     */
    default InsertResult insertAgain(PendingBlock block) throws InterruptedException {
        InsertResult first = insert(block);
        return first instanceof InsertResult.Stored ? insert(block) : first;
    }
}
