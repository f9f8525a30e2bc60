package io.tailrace.clickhouse;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.UUID;
import net.jpountz.lz4.LZ4FrameInputStream;
import net.jpountz.lz4.LZ4FrameOutputStream;

/**
 * A block that still takes rows. It compresses as they come, so that what is held between two checkpoints is a
 * fraction of the rows' size.
 */
final class OpenBlock {

    /** ClickHouse cuts larger inserts into several blocks, and only a whole insert is deduplicated as one. */
    static final int MOST_ROWS = 499_999;

    /** Bytes before compression; a single larger row makes a larger block. */
    static final int MOST_BYTES = 32 << 20;

    private final String layout;
    private final ByteArrayOutputStream compressed = new ByteArrayOutputStream(64 << 10);
    private final LZ4FrameOutputStream out;
    private int rows;
    private int size;

    OpenBlock(String layout) {
        this.layout = layout;
        try {
            out = new LZ4FrameOutputStream(compressed, LZ4FrameOutputStream.BLOCKSIZE.SIZE_256KB);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean hasRoomFor(RowBlock more) {
        return rows == 0 || (rows + more.rows() <= MOST_ROWS && size + more.bytes().length <= MOST_BYTES);
    }

    void add(RowBlock more) {
        try {
            out.write(more.bytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        rows += more.rows();
        size += more.bytes().length;
    }

    PendingBlock seal() {
        return seal(UUID.randomUUID().toString());
    }

    PendingBlock seal(String token) {
        try {
            out.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new PendingBlock(token, layout, rows, size, compressed.toByteArray());
    }

    /** The rows of a sealed block as they were added. */
    static byte[] rowsOf(PendingBlock block) {
        try (LZ4FrameInputStream in = new LZ4FrameInputStream(new ByteArrayInputStream(block.frame()))) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
