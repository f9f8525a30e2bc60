package io.tailrace.signing;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * The closed ranges that a record signs before its own range: their lengths and hashes, beside the payload, which has
 * their start and the root of these entries (schemas/contracts/README.md).
 */
public final class EarlierRanges {

    /** Number of ranges at most. */
    public static final int MAX = 255;

    private static final int ENTRY = Integer.BYTES + RangeHash.BYTES;

    /** @param bytes length in the file, from 1 */
    public record Range(long bytes, byte[] hash) {}

    private EarlierRanges() {}

    /**
     * Returns the ranges in the order of the file; none for an empty text.
     *
     * @throws IllegalArgumentException if the text is not a list of ranges in base64
     */
    public static List<Range> of(String text) {
        ByteBuffer entries = ByteBuffer.wrap(Base64.getDecoder().decode(text));
        if (entries.limit() % ENTRY != 0 || entries.limit() > MAX * ENTRY) {
            throw new IllegalArgumentException("expected at most " + MAX + " ranges of " + ENTRY + " bytes");
        }
        List<Range> ranges = new ArrayList<>(entries.limit() / ENTRY);
        while (entries.hasRemaining()) {
            long bytes = Integer.toUnsignedLong(entries.getInt());
            byte[] hash = new byte[RangeHash.BYTES];
            entries.get(hash);
            if (bytes == 0) {
                throw new IllegalArgumentException("a range is empty");
            }
            ranges.add(new Range(bytes, hash));
        }
        return ranges;
    }

    /** Returns the text of ranges. */
    public static String text(List<Range> ranges) {
        ByteBuffer entries = ByteBuffer.allocate(ranges.size() * ENTRY);
        ranges.forEach(range -> entries.put(entry(range)));
        return Base64.getEncoder().encodeToString(entries.array());
    }

    private static byte[] entry(Range range) {
        return ByteBuffer.allocate(ENTRY)
                .putInt((int) range.bytes())
                .put(range.hash())
                .array();
    }

    /** Returns the root of the entries of at least one range. */
    public static byte[] root(List<Range> ranges) {
        return new RangeTree().root(ranges.stream().map(EarlierRanges::entry).toList());
    }
}
