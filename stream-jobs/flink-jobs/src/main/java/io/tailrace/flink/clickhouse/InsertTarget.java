package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import java.io.Serializable;

/** Where blocks go. Safe for use by several threads. */
interface InsertTarget {

    /** Makes a store in the process that uses it. */
    @FunctionalInterface
    interface Factory extends Serializable {
        InsertTarget create();
    }

    /**
     * Inserts a block unless a block of the same token was inserted before. Blocks the thread for at most some
     * minutes.
     *
     * @throws InterruptedException if the job is being stopped; the block may or may not be stored then
     */
    InsertResult insert(PendingBlock block) throws InterruptedException;
}
