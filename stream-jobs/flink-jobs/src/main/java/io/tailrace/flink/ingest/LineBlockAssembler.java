package io.tailrace.flink.ingest;

import io.tailrace.reassembly.FileOrigin;
import io.tailrace.reassembly.LineBlock;
import io.tailrace.reassembly.LogId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Combines consecutive lines of a file, so that the job sends blocks with the exact bytes of the file instead of a
 * message per line.
 *
 * <p>A carriage return that a collector strips is restored if the next line starts two bytes after a line's end instead
 * of one. Lines of several files may alternate; each file has its own block. Not thread-safe.
 */
final class LineBlockAssembler {

    /** Size at which a block is emitted, in bytes; one longer line makes a longer block. */
    static final int BLOCK_BYTES = 64 << 10;

    /** Maximum number of files whose lines alternate before all blocks are emitted early. */
    private static final int MAX_FILES = 256;

    private final Consumer<LineBlock> out;
    private final Map<ByteBuffer, File> files = new HashMap<>();
    private File last;

    LineBlockAssembler(Consumer<LineBlock> out) {
        this.out = out;
    }

    void add(LineMessage line) {
        if (last == null || !last.isOf(line)) {
            last = fileOf(line);
        }
        if (line.backfill()) {
            passOn(last);
            out.accept(last.backfillBlock(line));
            return;
        }
        if (!last.takes(line)) {
            passOn(last);
        }
        last.append(line);
        if (last.size >= BLOCK_BYTES) {
            passOn(last);
        }
    }

    /** Emits every block. */
    void flush() {
        files.values().forEach(this::passOn);
    }

    private File fileOf(LineMessage line) {
        ByteBuffer header = ByteBuffer.wrap(headerOf(line));
        File file = files.get(header);
        if (file == null) {
            if (files.size() >= MAX_FILES) {
                flush();
                files.clear();
            }
            file = new File(line);
            files.put(header, file);
        }
        return file;
    }

    /** Returns the header values, each preceded by its length. */
    private static byte[] headerOf(LineMessage line) {
        int length = 0;
        for (int i = 0; i < LineMessage.HEADERS; i++) {
            length += Integer.BYTES + line.headerTo(i) - line.headerFrom(i);
        }
        ByteBuffer header = ByteBuffer.allocate(length);
        for (int i = 0; i < LineMessage.HEADERS; i++) {
            int size = line.headerTo(i) - line.headerFrom(i);
            header.putInt(size).put(line.message(), line.headerFrom(i), size);
        }
        return header.array();
    }

    private void passOn(File file) {
        if (file.size > 0) {
            out.accept(file.block());
            file.size = 0;
        }
    }

    /** One file of a collector, with its open block. */
    private static final class File {

        private final byte[][] header = new byte[LineMessage.HEADERS][];
        private final String[] text = new String[LineMessage.HEADERS];
        private final String key;
        private byte[] bytes = new byte[BLOCK_BYTES + (BLOCK_BYTES >> 2)];
        private int size;
        private long offset;
        private long readAt;

        File(LineMessage line) {
            for (int i = 0; i < LineMessage.HEADERS; i++) {
                header[i] = Arrays.copyOfRange(line.message(), line.headerFrom(i), line.headerTo(i));
                text[i] = new String(header[i], StandardCharsets.UTF_8);
            }
            key = LogId.of(text[LineMessage.INSTANCE], text[LineMessage.SOURCE], text[LineMessage.PATH])
                    .toKey();
        }

        boolean isOf(LineMessage line) {
            for (int i = LineMessage.HEADERS - 1; i >= 0; i--) {
                byte[] mine = header[i];
                if (!Arrays.equals(line.message(), line.headerFrom(i), line.headerTo(i), mine, 0, mine.length)) {
                    return false;
                }
            }
            return true;
        }

        boolean takes(LineMessage line) {
            long distance = line.offset() - (offset + size);
            return size == 0 || distance == 0 || distance == 1;
        }

        void append(LineMessage line) {
            if (size == 0) {
                offset = line.offset();
            } else if (line.offset() == offset + size + 1) {
                restoreCarriageReturn();
            }
            int length = line.logTo() - line.logFrom();
            reserve(length + 1);
            System.arraycopy(line.message(), line.logFrom(), bytes, size, length);
            size += length;
            bytes[size++] = '\n';
            readAt = line.readAt();
        }

        private void restoreCarriageReturn() {
            reserve(1);
            bytes[size - 1] = '\r';
            bytes[size++] = '\n';
        }

        private void reserve(int count) {
            if (bytes.length - size < count) {
                bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + count));
            }
        }

        LineBlock block() {
            byte[] lines = Arrays.copyOf(bytes, size);
            if (bytes.length > 4 * BLOCK_BYTES) {
                bytes = new byte[BLOCK_BYTES + (BLOCK_BYTES >> 2)];
            }
            return block(offset, lines, readAt, false, 0);
        }

        LineBlock backfillBlock(LineMessage line) {
            byte[] lines = Arrays.copyOfRange(line.message(), line.logFrom(), line.logTo());
            return block(line.offset(), lines, line.readAt(), true, line.generation());
        }

        private LineBlock block(long from, byte[] lines, long at, boolean backfill, long generation) {
            return new LineBlock(
                    new FileOrigin(
                            key,
                            text[LineMessage.CLUSTER],
                            text[LineMessage.INSTANCE],
                            text[LineMessage.SOURCE],
                            text[LineMessage.FORMAT],
                            text[LineMessage.ZONE],
                            text[LineMessage.PATH]),
                    from,
                    lines,
                    at,
                    backfill,
                    generation);
        }
    }
}
