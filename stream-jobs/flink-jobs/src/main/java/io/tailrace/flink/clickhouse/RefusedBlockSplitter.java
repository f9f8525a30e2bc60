package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides what comes in place of a block that ClickHouse refuses for its data. It is cut into pieces, and a piece
 * that is refused again into smaller ones, until the rows that are to blame stand alone: those become dead letters,
 * all others are stored.
 *
 * <p>Each piece is a block of its own token, so the caller must have the pieces in a completed checkpoint before it
 * posts them, and must never post the block again after that: a row then comes in one block only.
 *
 * <p>Most rows of a block may be refused, when a table has a wrong constraint. Then looking for the others is given
 * up after {@value #MAX_CUTS} cuts: pieces that are still refused become dead letters whole.
 */
final class RefusedBlockSplitter {

    private static final int PIECES = 32;
    private static final int MAX_CUTS = 128;
    private static final int REMEMBERED_BLOCKS = 256;
    private static final char PIECE = '/';

    private final RefusedRowConverter quarantine;

    /** Cuts by token of the whole block. Lost at a restart, which only means some more cuts. */
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

    /** Whether a refused block is to become dead letters, not smaller blocks. */
    boolean exceedsSplitLimit(PendingBlock refused) {
        return refused.rows() == 1 || cuts.getOrDefault(wholeBlock(refused), 0) >= MAX_CUTS;
    }

    /** Dead letters in place of the rows of a refused block, and postings that say so. */
    List<RowBlock> convertToDeadLetters(PendingBlock refused, String reason, long afterCheckpoint) {
        return quarantine.convertToDeadLetters(refused, reason, afterCheckpoint);
    }

    /** Pieces of a refused block that together have its rows. */
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
