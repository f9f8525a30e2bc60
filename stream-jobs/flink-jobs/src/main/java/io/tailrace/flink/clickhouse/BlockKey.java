package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import java.util.UUID;

/**
 * The target of rows: rows with the same target may share a block.
 *
 * @param layout a {@link RowLayout#text()}
 * @param day the partition, days since 1970; ClickHouse deduplicates an insert only within one partition
 * @param isDeadLetter whether the rows replace refused ones, which are kept in separate blocks
 */
record BlockKey(String layout, int day, boolean isDeadLetter) {

    private static final String REFUSED = "-refused";

    static BlockKey of(RowBlock rows, boolean isDeadLetter) {
        return new BlockKey(rows.layout(), rows.day(), isDeadLetter);
    }

    PendingBlock seal(BlockBuilder block) {
        return block.seal(UUID.randomUUID() + (isDeadLetter ? REFUSED : ""));
    }

    /** Returns whether the rows of the block replace refused ones. */
    static boolean isDeadLetter(PendingBlock block) {
        return block.token().endsWith(REFUSED);
    }
}
