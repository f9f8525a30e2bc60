package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Durable blocks that were never posted, because the store was away when their turn came.
 *
 * <p>An outage of ten minutes leaves blocks of six hundred checkpoints for each table. Posted one by one they would
 * keep the store busy for minutes with tiny parts. As no store has seen their tokens, small ones may become one block
 * with a token of its own: {@link #merge}.
 */
final class UnsentBlocks {

    /** That many small blocks of a target are merged; fewer are not worth compressing them again. */
    static final int MERGED_FROM = 16;

    /** Bytes before compression from which on a block is not small, so that no row is compressed often. */
    private static final int SMALL_BYTES = 1 << 20;

    private final Map<BlockKey, List<PendingBlock>> blocks = new LinkedHashMap<>();

    void add(BlockKey target, PendingBlock block) {
        blocks.computeIfAbsent(target, key -> new ArrayList<>()).add(block);
    }

    Collection<PendingBlock> all() {
        return blocks.values().stream().flatMap(Collection::stream).toList();
    }

    /** Takes out all blocks. */
    Collection<PendingBlock> drain() {
        Collection<PendingBlock> drained = all();
        blocks.clear();
        return drained;
    }

    /**
     * Takes out small blocks of targets that have many of them.
     *
     * @return one or several blocks with the same rows, which may be posted once a checkpoint with them in place of
     *     the others is complete
     */
    List<SealedBlock> merge() {
        List<SealedBlock> merged = new ArrayList<>();
        blocks.forEach((target, waiting) -> {
            List<PendingBlock> small =
                    waiting.stream().filter(block -> block.size() < SMALL_BYTES).toList();
            if (small.size() >= MERGED_FROM) {
                waiting.removeAll(small);
                merged.addAll(merge(target, small));
            }
        });
        return merged;
    }

    private static List<SealedBlock> merge(BlockKey target, List<PendingBlock> small) {
        List<SealedBlock> merged = new ArrayList<>();
        BlockBuilder open = new BlockBuilder(target.layout());
        for (PendingBlock block : small) {
            RowBlock rows = new RowBlock(target.layout(), target.day(), block.rows(), BlockBuilder.rowsOf(block));
            if (!open.hasRoomFor(rows)) {
                merged.add(SealedBlock.of(target, open));
                open = new BlockBuilder(target.layout());
            }
            open.add(rows);
        }
        merged.add(SealedBlock.of(target, open));
        return merged;
    }
}
