package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import java.util.Optional;

/**
 * A block that waits for its checkpoint, and the target by which it may be merged later.
 *
 * @param target target of the rows; empty for a piece of a refused block, which must not be merged
 * @param block a block that was never inserted
 */
record SealedBlock(Optional<BlockKey> target, PendingBlock block) {

    static SealedBlock of(BlockKey target, BlockBuilder block) {
        return new SealedBlock(Optional.of(target), target.seal(block));
    }

    static SealedBlock piece(PendingBlock piece) {
        return new SealedBlock(Optional.empty(), piece);
    }
}
