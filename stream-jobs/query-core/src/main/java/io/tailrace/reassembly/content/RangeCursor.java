package io.tailrace.reassembly.content;

import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateWriter;
import io.tailrace.signing.RangeHash;
import java.util.Arrays;

/**
 * Divides consecutive bytes of a file into ranges, and hashes each. Stores the bytes from the start of the open range
 * on: less than {@code rangeBytes}, and the last line.
 *
 * <p>A range ends at the end of the first line that ends at least {@code rangeBytes} after its start. The end
 * of the last line is not certain, because a collector may have shortened it, so a range is closed with the next line.
 *
 * <p>After a gap, no start of a range is known. Then the latest bytes are stored until a signed range shows one.
 */
final class RangeCursor {

    private static final int MAX_UNALIGNED_BYTES = 4 << 20;

    /** Receives closed ranges. */
    interface Listener {

        /** @param ambiguous whether a byte of it is inferred that may be another one */
        void closed(long from, long to, byte[] hash, boolean ambiguous);
    }

    private final RangeHash hashes = new RangeHash();
    private final int rangeBytes;
    private final Listener listener;
    private long start;
    private byte[] bytes = new byte[0];
    private int length;
    private boolean aligned;
    /** Offset after the last carriage return that was inferred from the offset of the next line. */
    private long inferredAt = -1;

    private RangeCursor(int rangeBytes, long start, boolean aligned, Listener listener) {
        this.rangeBytes = rangeBytes;
        this.start = start;
        this.aligned = aligned;
        this.listener = listener;
    }

    static RangeCursor atRange(int rangeBytes, long start, Listener listener) {
        return new RangeCursor(rangeBytes, start, true, listener);
    }

    static RangeCursor unaligned(int rangeBytes, long offset, Listener listener) {
        return new RangeCursor(rangeBytes, offset, false, listener);
    }

    /** Returns the offset of the first stored byte: the start of the open range if {@link #aligned()}. */
    long start() {
        return start;
    }

    /** Returns the offset of the next byte. */
    long position() {
        return start + length;
    }

    /** Returns whether the start of the open range is known. */
    boolean aligned() {
        return aligned;
    }

    /** Appends whole lines. */
    void append(byte[] more, int from, int to) {
        ensure(to - from);
        System.arraycopy(more, from, bytes, length, to - from);
        length += to - from;
        if (aligned) {
            closeRanges();
        } else if (length > MAX_UNALIGNED_BYTES) {
            discard(length - MAX_UNALIGNED_BYTES / 2);
        }
    }

    private void ensure(int added) {
        if (bytes.length - length < added) {
            bytes = Arrays.copyOf(bytes, Math.max(length + added, 2 * rangeBytes));
        }
    }

    /** Moves on without the bytes: their ranges cannot be compared. */
    void skip(long to) {
        aligned = false;
        start = to;
        length = 0;
        bytes = new byte[0];
    }

    private void closeRanges() {
        int from = 0;
        while (length - from > rangeBytes) {
            int end = LineHashes.end(bytes, from + rangeBytes - 1, length);
            if (end == length) {
                break;
            }
            close(from, end);
            from = end;
        }
        discard(from);
    }

    private void close(int from, int end) {
        listener.closed(start + from, start + end, hashes.of(bytes, from, end), isAmbiguous(start + from, start + end));
    }

    /**
     * Returns whether a carriage return was inferred within a range some of whose lines have none: then the missing
     * byte may have been an empty line that was lost.
     */
    boolean isAmbiguous(long from, long to) {
        if (inferredAt <= from || inferredAt > to) {
            return false;
        }
        for (int index = (int) (from - start); index < Math.min(to - start, length); index++) {
            if (bytes[index] == '\n' && (index == 0 || bytes[index - 1] != '\r')) {
                return true;
            }
        }
        return false;
    }

    private void discard(int count) {
        if (count > 0) {
            System.arraycopy(bytes, count, bytes, 0, length - count);
            start += count;
            length -= count;
        }
    }

    /** Closes the open range at the position, which is known to be the end of a range. */
    void closeHere() {
        if (aligned && length > 0) {
            close(0, length);
            discard(length);
        }
    }

    /** Ends the open range before its usual length, because the host has ended it there. */
    void startRangeAt(long offset) {
        discard((int) Math.max(0, Math.min(offset, position()) - start));
    }

    /** Aligns the cursor: a range starts at this offset. Returns the stored bytes before it; null if not possible. */
    byte[] align(long offset) {
        if (aligned || offset < start || offset > position()) {
            return null;
        }
        byte[] before = Arrays.copyOf(bytes, (int) (offset - start));
        discard(before.length);
        aligned = true;
        closeRanges();
        return before;
    }

    /** Extends the end of the last line from one byte to two. */
    void extendLastLine() {
        if (length == 0 || bytes[length - 1] != '\n') {
            skip(position() + 1);
            return;
        }
        ensure(1);
        bytes[length - 1] = '\r';
        bytes[length++] = '\n';
        inferredAt = position();
    }

    /**
     * Returns whether all bytes of a range are stored. One byte may be missing at its end: the second one of a line
     * end.
     */
    boolean holds(long from, long to) {
        boolean longerEnd = to == position() + 1 && length > 0 && bytes[length - 1] == '\n';
        return from >= start && from < position() && (to <= position() || longerEnd);
    }

    /** Returns the hash of a range for which {@link #holds} is true. */
    byte[] hash(long from, long to) {
        return hashes.of(bytes, (int) (from - start), (int) (Math.min(to, position()) - start));
    }

    /** Continues with the stored bytes of another cursor. */
    void append(RangeCursor other) {
        append(other.bytes, 0, other.length);
    }

    /** Stores the open range. Bytes before an unknown start are not stored: they only help to find one. */
    void save(StateWriter out) {
        out.flag(aligned);
        out.number(aligned ? start : position());
        out.number(inferredAt);
        out.bytes(bytes, 0, aligned ? length : 0);
    }

    static RangeCursor restore(StateReader in, int rangeBytes, Listener listener) {
        boolean aligned = in.flag();
        RangeCursor cursor = new RangeCursor(rangeBytes, in.number(), aligned, listener);
        cursor.inferredAt = in.number();
        cursor.bytes = in.plain();
        cursor.length = cursor.bytes.length;
        return cursor;
    }
}
