package io.tailrace.reassembly.content;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Packed segments answer as a map of them does, in whatever order they arrive. */
class PackedSegmentsTest {

    private static final int SEGMENTS = 3_000;
    /** Beyond it, offsets relative to a block exceed four bytes. */
    private static final long FAR = 5L << 30;

    private final TreeMap<Long, ContentHashes.Segment> expected = new TreeMap<>();
    private final PackedSegments packed = new PackedSegments();

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void findsTheSegmentBeforeEachOffset(int seed) {
        Random random = new Random(seed);
        List<ContentHashes.Segment> segments = segments(random);
        if (seed > 0) {
            Collections.shuffle(segments, random);
        }
        segments.forEach(this::put);
        replaceSome(segments, random);
        for (ContentHashes.Segment segment : segments) {
            for (long offset : new long[] {segment.from() - 1, segment.from(), segment.from() + 1, segment.to()}) {
                assertSame(offset);
            }
        }
        assertSame(0);
        assertSame(Long.MAX_VALUE / 2);
    }

    private static List<ContentHashes.Segment> segments(Random random) {
        List<ContentHashes.Segment> segments = new ArrayList<>();
        long from = 1;
        for (int n = 0; n < SEGMENTS; n++) {
            from += random.nextInt(10) == 0 ? random.nextLong(FAR) : 0;
            long to = from + 65_536 + random.nextInt(20_000);
            segments.add(new ContentHashes.Segment(from, to, random.nextLong()));
            from = to;
        }
        return segments;
    }

    /** A segment that was extended by one byte replaces itself. */
    private void replaceSome(List<ContentHashes.Segment> segments, Random random) {
        for (ContentHashes.Segment segment : segments) {
            if (random.nextInt(20) == 0) {
                put(new ContentHashes.Segment(segment.from(), segment.to() - 1, random.nextLong()));
            }
        }
    }

    private void put(ContentHashes.Segment segment) {
        expected.put(segment.from(), segment);
        packed.put(segment);
    }

    private void assertSame(long offset) {
        Map.Entry<Long, ContentHashes.Segment> floor = expected.floorEntry(offset);
        ContentHashes.Segment found = packed.floor(offset);
        if (floor == null) {
            assertThat(found).isNull();
            return;
        }
        assertThat(found).isNotNull();
        assertThat(found.from()).isEqualTo(floor.getValue().from());
        assertThat(found.to()).isEqualTo(floor.getValue().to());
        assertThat(found.hash()).isEqualTo(floor.getValue().hash());
    }
}
