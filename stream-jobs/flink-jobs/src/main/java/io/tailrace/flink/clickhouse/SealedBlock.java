package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import java.util.Optional;

/**
 * A block that waits for its checkpoint, and what it may be merged with later.
 *
 * @param target of the rows; empty for a piece of a refused block, which must stay apart
 * @param block never posted so far
 */
record SealedBlock(Optional<BlockKey> target, PendingBlock block) {

    static SealedBlock of(BlockKey target, BlockBuilder block) {
        return new SealedBlock(Optional.of(target), target.seal(block));
    }

    static SealedBlock piece(PendingBlock piece) {
        return new SealedBlock(Optional.empty(), piece);
    }
}
