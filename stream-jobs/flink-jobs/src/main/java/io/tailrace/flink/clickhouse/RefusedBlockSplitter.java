package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides how to replace a block that ClickHouse refuses because of its data. The block is split into pieces, and a
 * piece that is refused into smaller ones, until the invalid rows are isolated. They become dead letters, and all
 * others are stored.
 *
 * <p>Each piece is a block with its own token. The caller must have the pieces in a completed checkpoint before it
 * inserts them, and must never insert the original block after that, so that each row is inserted in one block only.
 *
 * <p>If a table has a wrong constraint, most rows of a block may be refused. After {@value #MAX_CUTS} splits, pieces
 * that are still refused become dead letters as a whole.
 */
final class RefusedBlockSplitter {

    private static final int PIECES = 32;
    private static final int MAX_CUTS = 128;
    private static final int REMEMBERED_BLOCKS = 256;
    private static final char PIECE = '/';

    private final RefusedRowConverter quarantine;

    /**
     * Number of splits by the token of the original block. It is lost at a restart, which only causes some more splits.
     */
    private final Map<String, Integer> cuts = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Integer> eldest) {
            return size() > REMEMBERED_BLOCKS;
        }
    };

    RefusedBlockSplitter(RefusedRowConverter quarantine) {
        this.quarantine = quarantine;
    }

    /** Returns whether a refused block becomes dead letters instead of smaller blocks. */
    boolean exceedsSplitLimit(PendingBlock refused) {
        return refused.rows() == 1 || cuts.getOrDefault(wholeBlock(refused), 0) >= MAX_CUTS;
    }

    /** Returns dead letters in place of the rows of a refused block, and their postings. */
    List<RowBlock> convertToDeadLetters(PendingBlock refused, String reason, long afterCheckpoint) {
        return quarantine.convertToDeadLetters(refused, reason, afterCheckpoint);
    }

    /** Splits a refused block into pieces that together contain its rows. */
    List<PendingBlock> cut(PendingBlock refused) {
        cuts.merge(wholeBlock(refused), 1, Integer::sum);
        byte[] bytes = BlockBuilder.rowsOf(refused);
        RowBinaryReader rows = new RowBinaryReader(RowLayout.parse(refused.layout()), bytes);
        List<PendingBlock> pieces = new ArrayList<>();
        for (int piece = 0; piece < PIECES; piece++) {
            int count = size(refused.rows(), piece);
            if (count > 0) {
                pieces.add(piece(refused, rows, count, refused.token() + PIECE + piece));
            }
        }
        return pieces;
    }

    private static int size(int rows, int piece) {
        return (int) ((piece + 1L) * rows / PIECES - (long) piece * rows / PIECES);
    }

    private static PendingBlock piece(PendingBlock refused, RowBinaryReader rows, int count, String token) {
        BlockBuilder piece = new BlockBuilder(refused.layout());
        for (int i = 0; i < count && rows.next(); i++) {
            piece.add(new RowBlock(refused.layout(), 0, 1, rows.row()));
        }
        return piece.seal(token);
    }

    private static String wholeBlock(PendingBlock block) {
        int end = block.token().indexOf(PIECE);
        return end < 0 ? block.token() : block.token().substring(0, end);
    }
}
