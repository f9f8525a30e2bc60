package io.tailrace.flink.clickhouse;

import java.io.Serializable;
import java.time.Clock;

/**
 * How blocks are committed.
 *
 * @param store where blocks go
 * @param database that holds the tables of dead letters and of the ledger
 * @param parallelPosts inserts that one subtask has under way at most, from 1
 * @param maxPendingBytes compressed bytes of sealed blocks that one subtask holds before it takes no more rows
 * @param version of Tailrace, for dead letters
 */
record CommitterConfig(
        InsertTarget.Factory store, String database, int parallelPosts, long maxPendingBytes, String version)
        implements Serializable {

    RefusedBlockSplitter refusedBlocks() {
        return new RefusedBlockSplitter(new RefusedRowConverter(database, Clock.systemUTC(), version));
    }
}
