package io.tailrace.reassembly.content;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * Closed segments of one file without hashes of lines, in 16 bytes each: a file of a terabyte has 16 million. Segments
 * mostly arrive in the order of the file.
 */
final class PackedSegments {

    private static final int SEGMENTS_PER_BLOCK = 256;
    private static final int FIRST_SEGMENTS = 16;

    /** By the start of the first segment. All segments of a block start before the next block. */
    private final TreeMap<Long, Block> blocks = new TreeMap<>();

    /** Segments in ascending order; offsets are relative to the first start that the block had. */
    private static final class Block {
        private final long base;
        private int count;
        private int[] starts = new int[FIRST_SEGMENTS];
        private int[] lengths = new int[FIRST_SEGMENTS];
        private long[] hashes = new long[FIRST_SEGMENTS];

        Block(long base) {
            this.base = base;
        }

        boolean isFull() {
            return count == SEGMENTS_PER_BLOCK;
        }

        long lastStart() {
            return base + starts[count - 1];
        }

        /** Returns the index of the last segment that starts at or before an offset; -1 if there is none. */
        int floor(long offset) {
            int relative = (int) Math.min(offset - base, Integer.MAX_VALUE);
            int index = Arrays.binarySearch(starts, 0, count, relative);
            return index >= 0 ? index : -index - 2;
        }

        ContentHashes.Segment segment(int index) {
            long from = base + starts[index];
            return new ContentHashes.Segment(from, from + lengths[index], hashes[index]);
        }

        void put(long from, int length, long hash) {
            int before = floor(from);
            boolean known = before >= 0 && base + starts[before] == from;
            int index = known ? before : before + 1;
            if (!known) {
                makeRoom(index);
            }
            starts[index] = (int) (from - base);
            lengths[index] = length;
            hashes[index] = hash;
        }

        private void makeRoom(int index) {
            if (count == starts.length) {
                resize(count * 2);
            }
            System.arraycopy(starts, index, starts, index + 1, count - index);
            System.arraycopy(lengths, index, lengths, index + 1, count - index);
            System.arraycopy(hashes, index, hashes, index + 1, count - index);
            count++;
        }

        private void resize(int capacity) {
            starts = Arrays.copyOf(starts, capacity);
            lengths = Arrays.copyOf(lengths, capacity);
            hashes = Arrays.copyOf(hashes, capacity);
        }

        /** Moves the second half to a new block. */
        Block split() {
            int half = count / 2;
            Block second = new Block(base + starts[half]);
            for (int index = half; index < count; index++) {
                second.put(base + starts[index], lengths[index], hashes[index]);
            }
            count = half;
            return second;
        }
    }

    /** Returns whether a segment can be packed: its length is stored in four bytes. */
    static boolean accepts(ContentHashes.Segment segment) {
        return segment.to() - segment.from() <= Integer.MAX_VALUE;
    }

    /** Adds a segment, or replaces the one with the same start. */
    void put(ContentHashes.Segment segment) {
        long from = segment.from();
        blockFor(from).put(from, (int) (segment.to() - from), segment.hash());
    }

    private Block blockFor(long from) {
        Map.Entry<Long, Block> floor = blocks.floorEntry(from);
        if (floor == null || from - floor.getKey() > Integer.MAX_VALUE) {
            return newBlock(new Block(from));
        }
        Block block = floor.getValue();
        if (!block.isFull()) {
            return block;
        }
        if (from > block.lastStart()) {
            return newBlock(new Block(from));
        }
        Block second = newBlock(block.split());
        return from < second.base ? block : second;
    }

    private Block newBlock(Block block) {
        blocks.put(block.base, block);
        return block;
    }

    /** Returns the last segment that starts at or before an offset; null if there is none. */
    ContentHashes.Segment floor(long offset) {
        Map.Entry<Long, Block> floor = blocks.floorEntry(offset);
        return floor == null ? null : floor.getValue().segment(floor.getValue().floor(offset));
    }
}
