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
 * A block that still takes rows. A large one compresses as they come, so that what is held between two checkpoints is
 * a fraction of the rows' size; a small one, and an old log may need hundreds of them at once, has no buffers of a
 * compressor.
 */
final class BlockBuilder {

    /** ClickHouse cuts larger inserts into several blocks, and only a whole insert is deduplicated as one. */
    static final int MAX_ROWS = 499_999;

    /** Bytes before compression; a single larger row makes a larger block. */
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

    /** Bytes of its rows before compression. */
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

    /** The rows of a sealed block as they were added. */
    static byte[] rowsOf(PendingBlock block) {
        try (LZ4FrameInputStream in = new LZ4FrameInputStream(new ByteArrayInputStream(block.frame()))) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
