package io.tailrace.reassembly.generation;

import io.tailrace.reassembly.content.LineHashes;
import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateWriter;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Iterator;

/**
 * Contiguous bytes of a file that were read and not yet reported, in chunks of whole lines. Each chunk is stored
 * once, no matter how often the state is saved.
 */
final class PendingBytes {

    /** Bytes {@code [from, from + length)} of the file. */
    private static final class Chunk {
        private final long from;
        private final byte[] bytes;
        private final int length;
        private long storedAs;

        private Chunk(long from, byte[] bytes, int length) {
            this.from = from;
            this.bytes = bytes;
            this.length = length;
        }

        private long end() {
            return from + length;
        }
    }

    private final StateWriter.Ids ids;
    private final ArrayDeque<Chunk> chunks = new ArrayDeque<>();

    PendingBytes(StateWriter.Ids ids) {
        this.ids = ids;
    }

    boolean isEmpty() {
        return chunks.isEmpty();
    }

    /** Appends bytes that follow the last ones; the caller must not change the array afterwards. */
    void append(long from, byte[] bytes) {
        if (bytes.length > 0) {
            chunks.add(new Chunk(from, bytes, bytes.length));
        }
    }

    /** Discards the chunks that end at or before an offset. */
    void dropBefore(long offset) {
        while (!chunks.isEmpty() && chunks.peekFirst().end() <= offset) {
            ids.release(chunks.pollFirst().storedAs);
        }
    }

    void clear() {
        dropBefore(Long.MAX_VALUE);
    }

    /** Discards the bytes from an offset on. */
    void truncate(long offset) {
        while (!chunks.isEmpty() && chunks.peekLast().from >= offset) {
            ids.release(chunks.pollLast().storedAs);
        }
        if (!chunks.isEmpty() && chunks.peekLast().end() > offset) {
            Chunk last = chunks.pollLast();
            ids.release(last.storedAs);
            append(last.from, Arrays.copyOf(last.bytes, (int) (offset - last.from)));
        }
    }

    /** Copies the stored bytes of {@code [from, to)} to their position in an array that starts at {@code from}. */
    void copy(long from, long to, byte[] target) {
        for (Chunk chunk : chunks) {
            long start = Math.max(from, chunk.from);
            long end = Math.min(to, chunk.end());
            if (start < end) {
                int length = (int) (end - start);
                System.arraycopy(chunk.bytes, (int) (start - chunk.from), target, (int) (start - from), length);
            }
        }
    }

    /** Locates the line that starts at an offset, which must be stored. */
    boolean line(long offset, Line line) {
        for (Chunk chunk : chunks) {
            if (offset >= chunk.from && offset < chunk.end()) {
                line.bytes = chunk.bytes;
                line.from = (int) (offset - chunk.from);
                line.to = LineHashes.end(chunk.bytes, line.from, chunk.length);
                return true;
            }
        }
        return false;
    }

    void save(StateWriter out) {
        joinUnstored();
        out.number(chunks.size());
        for (Chunk chunk : chunks) {
            if (chunk.storedAs == 0) {
                chunk.storedAs = out.store(chunk.bytes);
            }
            out.number(chunk.from);
            out.number(chunk.length);
            out.number(chunk.storedAs);
        }
    }

    void restore(StateReader in) {
        for (int count = in.count(); count > 0; count--) {
            long from = in.number();
            int length = in.count();
            long storedAs = in.number();
            Chunk chunk = new Chunk(from, in.stored(storedAs), length);
            chunk.storedAs = storedAs;
            chunks.add(chunk);
        }
    }

    /** Joins the chunks that are not stored yet, because an entry of a slow writer arrives line by line. */
    private void joinUnstored() {
        int total = 0;
        int count = 0;
        for (Iterator<Chunk> last = chunks.descendingIterator(); last.hasNext(); count++) {
            Chunk chunk = last.next();
            if (chunk.storedAs != 0) {
                break;
            }
            total += chunk.length;
        }
        if (count > 1) {
            byte[] joined = new byte[total];
            long end = chunks.peekLast().end();
            copy(end - total, end, joined);
            truncate(end - total);
            append(end - total, joined);
        }
    }

    /** Location of a line; {@link #line} fills it, and it is reused. */
    static final class Line {
        private byte[] bytes;
        private int from;
        private int to;

        byte[] bytes() {
            return bytes;
        }

        int from() {
            return from;
        }

        int to() {
            return to;
        }
    }
}
