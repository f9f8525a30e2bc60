package io.tailrace.cli.input;

import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.LogOrigin;
import io.tailrace.lexer.ByteText;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/**
 * Reads a log file from its first byte to its last and splits it into blocks of complete entries. Stores only the bytes
 * of the current entry. Not thread-safe: threads take blocks one after another.
 */
final class LogBlockReader {

    /** Size of buffers in bytes, unless an entry needs a larger one. */
    private static final int INITIAL_BUFFER = 1 << 19;

    /** Number of bytes per read: few enough to be in the processor's cache when they are parsed. */
    private static final int MAX_AT_ONCE = 1 << 17;

    private final InputStream in;
    private final LogOrigin origin;
    private final EntryFramer framer;
    private final int maxLineLength;
    private final Deque<byte[]> released = new ArrayDeque<>();

    private byte[] buffer;
    /** File offset of the buffer's first byte. */
    private long base;
    /** Index of the next byte to feed. */
    private int at;
    /** Index after the last byte read. */
    private int limit;
    /** There is no line feed between {@link #at} and this index. */
    private int searched;
    /** File offset of a line that is skipped and whose end was not found yet, or -1. */
    private long skippedFrom = -1;

    private boolean atEnd;

    /**
     * @param head bytes that were read from the file before, to detect its format
     * @param in the rest of the file
     * @param maxLineLength length in bytes above which a line is a dead letter without bytes
     */
    LogBlockReader(byte[] head, InputStream in, EntryFramer framer, LogOrigin origin, int maxLineLength) {
        this.in = in;
        this.framer = framer;
        this.origin = origin;
        this.maxLineLength = maxLineLength;
        this.buffer = Arrays.copyOf(head, Math.max(INITIAL_BUFFER, head.length));
        this.limit = head.length;
    }

    /** Returns the next block, or null after the last one. */
    LogBlock next() throws IOException {
        if (atEnd) {
            return null;
        }
        LogBlock block = new LogBlock(origin);
        boolean more = skippedFrom < 0 || finishSkipping(block);
        while (more) {
            feedLines(block);
            if (limit - at > maxLineLength) {
                startSkipping(block);
                return handOver(block);
            }
            if (!block.isEmpty()) {
                return handOver(block);
            }
            more = fill();
        }
        finish(block);
        return handOver(block);
    }

    /** Takes back a block whose bytes are no longer needed. */
    void recycle(LogBlock block) {
        byte[] bytes = block.release();
        if (bytes.length == INITIAL_BUFFER) {
            released.push(bytes);
        }
    }

    /** Returns the number of bytes that were read. */
    long size() {
        return base + limit;
    }

    /** Returns the number of bytes that were read, but neither framed nor rejected. */
    long pending() {
        return size() - Math.min(size(), framer.pendingFrom());
    }

    /** Feeds all complete lines that were read. */
    private void feedLines(LogBlock block) {
        int end = ByteText.lineFeed(buffer, Math.max(searched, at), limit);
        while (end < limit) {
            feed(end + 1, block);
            end = ByteText.lineFeed(buffer, at, limit);
        }
        searched = limit;
    }

    private void feed(int end, LogBlock block) {
        at = (int) (framer.line(buffer, at, end, base + at, block) - base);
    }

    /** Reads more bytes after the buffered ones; returns false at the end of the file. */
    private boolean fill() throws IOException {
        if (limit == buffer.length) {
            buffer = Arrays.copyOf(buffer, buffer.length * 2);
        }
        int read = in.read(buffer, limit, Math.min(buffer.length - limit, MAX_AT_ONCE));
        limit += Math.max(read, 0);
        return read >= 0;
    }

    /** Passes the bytes to the block, and copies those that the next one needs. */
    private LogBlock handOver(LogBlock block) {
        int needed = (int) Math.min(at, Math.max(0, framer.pendingFrom() - base));
        int kept = limit - needed;
        byte[] next = buffer(kept + MAX_AT_ONCE);
        System.arraycopy(buffer, needed, next, 0, kept);
        block.hold(buffer, base);
        buffer = next;
        base += needed;
        at -= needed;
        searched = Math.max(0, searched - needed);
        limit = kept;
        return block;
    }

    private byte[] buffer(int size) {
        if (size > INITIAL_BUFFER) {
            return new byte[Math.max(size, Math.min(buffer.length, size * 2))];
        }
        byte[] old = released.poll();
        return old == null ? new byte[INITIAL_BUFFER] : old;
    }

    /** Starts to skip the current line, which is too long for memory. */
    private void startSkipping(LogBlock block) {
        skippedFrom = base + at;
        at = limit;
        framer.hole(base + limit, block);
    }

    /** Searches for the end of the skipped line; returns false at the end of the file. */
    private boolean finishSkipping(LogBlock block) throws IOException {
        int afterFeed = 0;
        int read = 0;
        while (afterFeed == 0 && read >= 0) {
            base += read;
            read = in.read(buffer, 0, MAX_AT_ONCE);
            int feed = ByteText.lineFeed(buffer, 0, Math.max(read, 0));
            afterFeed = feed < read ? feed + 1 : 0;
        }
        at = afterFeed;
        limit = Math.max(read, 0);
        searched = afterFeed;
        block.rejectedWithoutBytes(
                skippedFrom,
                base + at,
                DeadLetterCode.ENTRY_TOO_LARGE,
                "expected a line of at most " + maxLineLength + " bytes");
        framer.hole(base + at, block);
        skippedFrom = -1;
        return read >= 0;
    }

    /** Finishes the framing at the end of the file. */
    private void finish(LogBlock block) {
        while (at < limit) {
            int feed = ByteText.lineFeed(buffer, at, limit);
            feed(Math.min(feed + 1, limit), block);
        }
        framer.end(block);
        atEnd = true;
    }
}
