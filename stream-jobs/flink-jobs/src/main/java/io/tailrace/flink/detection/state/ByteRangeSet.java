package io.tailrace.flink.detection.state;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * The byte ranges of a file whose entries were seen. Entries are adjacent, so few ranges remain for any number and
 * order of entries: one more for each range of framing (a server's banner), dead letter or gap.
 *
 * <p>Exact up to {@value #MAX_RANGES} ranges; then the lowest one is forgotten. A repeated entry of a forgotten range
 * counts as new, and its alerts have the same ids as before. An entry that was never seen is never taken for a repeated
 * one.
 */
public final class ByteRangeSet {

    static final int MAX_RANGES = 1_000;
    private static final byte VERSION = 1;

    /** Start and end of each range in turn, ascending; ranges do not touch. */
    private long[] bounds = new long[4];

    private int size;

    /** Adds a range. Returns whether its first byte was not contained yet. */
    public boolean add(long from, long to) {
        int first = firstEndingAt(from);
        if (first < size && bounds[first] <= from && from < bounds[first + 1]) {
            return false;
        }
        long begin = from;
        long end = Math.max(from + 1, to);
        int next = first;
        while (next < size && bounds[next] <= end) {
            begin = Math.min(begin, bounds[next]);
            end = Math.max(end, bounds[next + 1]);
            next += 2;
        }
        splice(first, next, begin, end);
        if (size > 2 * MAX_RANGES) {
            splice(0, 4, bounds[2], bounds[3]);
        }
        return true;
    }

    /** Returns the index of the first range that ends at this offset or later. */
    private int firstEndingAt(long offset) {
        int low = 0;
        int high = size / 2;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (bounds[2 * middle + 1] < offset) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return 2 * low;
    }

    /** Replaces the bounds from `start` to `end` by one range. */
    private void splice(int start, int end, long from, long to) {
        int tail = size - end;
        long[] target = start + 2 + tail > bounds.length ? Arrays.copyOf(bounds, bounds.length * 2) : bounds;
        System.arraycopy(bounds, end, target, start + 2, tail);
        target[start] = from;
        target[start + 1] = to;
        bounds = target;
        size = start + 2 + tail;
    }

    int ranges() {
        return size / 2;
    }

    public void write(DataOutput out) throws IOException {
        out.writeByte(VERSION);
        out.writeInt(size);
        for (int i = 0; i < size; i++) {
            out.writeLong(bounds[i]);
        }
    }

    public static ByteRangeSet read(DataInput in) throws IOException {
        StateVersions.expect(VERSION, in.readByte());
        ByteRangeSet ranges = new ByteRangeSet();
        ranges.size = in.readInt();
        ranges.bounds = new long[Math.max(4, ranges.size)];
        for (int i = 0; i < ranges.size; i++) {
            ranges.bounds[i] = in.readLong();
        }
        return ranges;
    }
}
