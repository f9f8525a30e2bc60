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
}
