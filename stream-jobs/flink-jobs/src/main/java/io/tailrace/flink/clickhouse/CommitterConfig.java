package io.tailrace.flink.clickhouse;

import java.io.Serializable;
import java.time.Clock;

/**
 * The settings of the committer.
 *
 * @param store target of the blocks
 * @param database database of the tables dead_letters and ledger
 * @param parallelPosts maximum number of concurrent inserts per subtask, from 1
 * @param maxPendingBytes compressed bytes of sealed blocks from which on a subtask accepts no more rows
 * @param version version of Tailrace, for dead letters
 */
record CommitterConfig(
        InsertTarget.Factory store, String database, int parallelPosts, long maxPendingBytes, String version)
        implements Serializable {

    RefusedBlockSplitter refusedBlocks() {
        return new RefusedBlockSplitter(new RefusedRowConverter(database, Clock.systemUTC(), version));
    }
}
