package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import java.util.UUID;

/**
 * Where rows go: rows of one target may stand in one block.
 *
 * @param layout a {@link RowLayout#text()}
 * @param day the partition, days since 1970; ClickHouse deduplicates an insert only within one partition
 * @param isDeadLetter whether the rows stand for others that were refused; those stay apart
 */
record BlockKey(String layout, int day, boolean isDeadLetter) {

    private static final String REFUSED = "-refused";

    static BlockKey of(RowBlock rows, boolean isDeadLetter) {
        return new BlockKey(rows.layout(), rows.day(), isDeadLetter);
    }

    PendingBlock seal(BlockBuilder block) {
        return block.seal(UUID.randomUUID() + (isDeadLetter ? REFUSED : ""));
    }

    /** Whether the block's rows stand for others that were refused. */
    static boolean isDeadLetter(PendingBlock block) {
        return block.token().endsWith(REFUSED);
    }
}
