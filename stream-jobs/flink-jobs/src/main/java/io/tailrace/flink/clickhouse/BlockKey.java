package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import java.util.UUID;

/**
 * Where rows go: rows of one target may stand in one block.
 *
 * @param layout a {@link RowLayout#text()}
 * @param day the partition, days since 1970; ClickHouse deduplicates an insert only within one partition
 * @param saysRefused whether the rows stand for others that were refused; those stay apart
 */
record BlockKey(String layout, int day, boolean saysRefused) {

    private static final String REFUSED = "-refused";

    static BlockKey of(RowBlock rows, boolean saysRefused) {
        return new BlockKey(rows.layout(), rows.day(), saysRefused);
    }

    PendingBlock seal(BlockBuilder block) {
        return block.seal(UUID.randomUUID() + (saysRefused ? REFUSED : ""));
    }

    /** Whether the block's rows stand for others that were refused. */
    static boolean saysRefused(PendingBlock block) {
        return block.token().endsWith(REFUSED);
    }
}
