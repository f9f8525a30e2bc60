package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Blocks of completed checkpoints that were never inserted because ClickHouse was unavailable.
 *
 * <p>An outage of ten minutes leaves the blocks of six hundred checkpoints for each table. Single inserts would keep
 * ClickHouse busy with tiny parts for minutes. ClickHouse has not received their tokens yet, so small blocks may be
 * merged into one with its own token: {@link #merge}.
 */
final class UnsentBlocks {

    /** Minimum number of small blocks of a target to merge; compressing fewer of them again is not worthwhile. */
    static final int MERGED_FROM = 16;

    /** Size before compression from which on a block is not small, so that no row is compressed often. */
    private static final int SMALL_BYTES = 1 << 20;

    private final Map<BlockKey, List<PendingBlock>> blocks = new LinkedHashMap<>();
    private final AtomicInteger size = new AtomicInteger();

    void add(BlockKey target, PendingBlock block) {
        blocks.computeIfAbsent(target, key -> new ArrayList<>()).add(block);
        size.incrementAndGet();
    }

    /** Returns the number of blocks. Other threads may call this method, and only this one. */
    int size() {
        return size.get();
    }

    Collection<PendingBlock> all() {
        return blocks.values().stream().flatMap(Collection::stream).toList();
    }

    /** Removes and returns all blocks. */
    Collection<PendingBlock> drain() {
        Collection<PendingBlock> drained = all();
        blocks.clear();
        size.set(0);
        return drained;
    }

    /**
     * Removes the small blocks of targets that have many of them.
     *
     * @return one or several blocks with the same rows, which may be inserted in place of the others after a checkpoint
     *     with them is complete
     */
    List<SealedBlock> merge() {
        List<SealedBlock> merged = new ArrayList<>();
        blocks.forEach((target, waiting) -> {
            List<PendingBlock> small =
                    waiting.stream().filter(block -> block.size() < SMALL_BYTES).toList();
            if (small.size() >= MERGED_FROM) {
                waiting.removeAll(small);
                size.addAndGet(-small.size());
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
