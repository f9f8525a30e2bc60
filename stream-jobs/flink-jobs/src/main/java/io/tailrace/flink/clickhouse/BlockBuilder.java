package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.UUID;
import net.jpountz.lz4.LZ4FrameInputStream;
import net.jpountz.lz4.LZ4FrameOutputStream;

/**
 * A block that still accepts rows. A large block compresses rows on arrival, so that the memory between two checkpoints
 * is a fraction of the size of the rows. A small block has no compressor, because an old log may need hundreds of
 * blocks at the same time.
 */
final class BlockBuilder {

    /** ClickHouse splits larger inserts into several blocks, and deduplicates an insert only if it is one block. */
    static final int MAX_ROWS = 499_999;

    /** Maximum size in bytes before compression; a single larger row makes a larger block. */
    static final int MAX_BYTES = 32 << 20;

    private static final int COMPRESSED_FROM = 256 << 10;

    private final String layout;
    private final ByteArrayOutputStream plain = new ByteArrayOutputStream();
    private final ByteArrayOutputStream frame = new ByteArrayOutputStream();
    private LZ4FrameOutputStream compressor;
    private int rows;
    private int size;

    BlockBuilder(String layout) {
        this.layout = layout;
    }

    boolean hasRoomFor(RowBlock more) {
        return rows == 0 || (rows + more.rows() <= MAX_ROWS && size + more.bytes().length <= MAX_BYTES);
    }

    void add(RowBlock more) {
        plain.writeBytes(more.bytes());
        rows += more.rows();
        size += more.bytes().length;
        if (plain.size() >= COMPRESSED_FROM) {
            compress();
        }
    }

    /** Returns the size of its rows before compression, in bytes. */
    int size() {
        return size;
    }

    private void compress() {
        try {
            if (compressor == null) {
                compressor = new LZ4FrameOutputStream(frame, LZ4FrameOutputStream.BLOCKSIZE.SIZE_64KB);
            }
            plain.writeTo(compressor);
            plain.reset();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    PendingBlock seal() {
        return seal(UUID.randomUUID().toString());
    }

    PendingBlock seal(String token) {
        compress();
        try {
            compressor.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new PendingBlock(token, layout, rows, size, frame.toByteArray());
    }

    /** Returns the uncompressed rows of a sealed block. */
    static byte[] rowsOf(PendingBlock block) {
        try (LZ4FrameInputStream in = new LZ4FrameInputStream(new ByteArrayInputStream(block.frame()))) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
