package io.tailrace.clickhouse;

import java.io.Serializable;
import java.time.Clock;

/**
 * How blocks are committed.
 *
 * @param store where blocks go
 * @param deadLetterTable table for blocks that are refused, with its database
 * @param parallelPosts inserts that one subtask has under way at most, from 1
 * @param mostPendingBytes compressed bytes of sealed blocks that one subtask holds before it takes no more rows
 * @param version of Tailrace, for dead letters
 */
record CommitSettings(
        BlockStore.Factory store, String deadLetterTable, int parallelPosts, long mostPendingBytes, String version)
        implements Serializable {

    BlockQuarantine quarantine() {
        return new BlockQuarantine(deadLetterTable, Clock.systemUTC(), version);
    }
}
