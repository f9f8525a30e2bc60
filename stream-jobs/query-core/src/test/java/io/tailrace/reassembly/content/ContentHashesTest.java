package io.tailrace.reassembly.content;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.reassembly.ReassemblyLimits;
import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateStore;
import io.tailrace.reassembly.state.StateVersion;
import io.tailrace.reassembly.state.StateWriter;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Hashes of a large file: what a checkpoint contains and how much memory they take. */
class ContentHashesTest {

    private static final int LINE = 1_000;
    private static final int LINES_PER_CHECKPOINT = 10_000;
    private static final int SEGMENT = 1 << 16;
    /** Of the last 16 MB, the hash of each line is kept. */
    private static final int RECENT = 16 << 20;

    private static final long FILE = 10_000_000_000L;
    /** 16 in arrays, and the rest for blocks, pages and noise. */
    private static final double MOST_BYTES_PER_SEGMENT = 24;

    private final Map<Long, byte[]> stored = new HashMap<>();
    private final StateStore store = new StateStore() {
        @Override
        public void put(long id, byte[] bytes) {
            stored.put(id, bytes);
        }

        @Override
        public byte[] get(long id) {
            return stored.get(id);
        }

        @Override
        public void remove(long id) {
            stored.remove(id);
        }
    };
    private final StateWriter.Ids ids = new StateWriter.Ids();
    private int lines;
    /** Heap that the latest result keeps, without what it stored. */
    private long retained;

    private static ReassemblyLimits limits() {
        return new ReassemblyLimits(1 << 17, 30_000, 1 << 20, SEGMENT, RECENT, 1024, 1 << 14, 1L << 40, 16);
    }

    private ContentHashes read(long from, long to, ContentHashes hashes) {
        ContentHashes.Segment open = null;
        for (long offset = from; offset < to; offset += LINE) {
            open = hashes.add(open, offset, offset + LINE, hash(offset));
            if (++lines % LINES_PER_CHECKPOINT == 0) {
                save(hashes);
            }
        }
        hashes.close(open);
        return hashes;
    }

    private static long hash(long offset) {
        return LineHashes.join(17, offset);
    }

    private byte[] save(ContentHashes hashes) {
        StateWriter out = new StateWriter(store, ids);
        hashes.save(out);
        out.finish(0);
        return out.toBytes();
    }

    @Test
    void aCheckpointRestoresEverySegmentOnce() {
        long end = 100L << 20;
        ContentHashes hashes = read(0, end, new ContentHashes(limits(), ids));
        byte[] saved = save(hashes);
        ContentHashes restored = new ContentHashes(limits(), ids);
        restored.restore(new StateReader(store, saved, StateVersion.CURRENT));
        for (long offset = 0; offset < end; offset += 3 * LINE) {
            ContentHashes.Segment before = hashes.at(offset);
            ContentHashes.Segment after = restored.at(offset);
            assertThat(after.from()).isEqualTo(before.from()).isLessThanOrEqualTo(offset);
            assertThat(after.to()).isEqualTo(before.to()).isGreaterThan(offset);
            assertThat(after.hash()).isEqualTo(before.hash());
            assertThat(after.knowsLines()).isEqualTo(before.knowsLines());
        }
        assertThat(save(restored)).isEqualTo(saved);
    }

    @Test
    void anExtendedSegmentKeepsItsByteAlthoughItWasPacked() {
        ContentHashes hashes = new ContentHashes(limits(), ids);
        long end = 1L << 20;
        ContentHashes.Segment extended = null;
        for (long offset = LINE; offset < end; offset += LINE) {
            extended = hashes.add(extended, offset, offset + LINE, hash(offset));
        }
        hashes.close(extended);
        long closedAt = extended.to();
        read(2 * end, 100 * end, hashes);
        save(hashes);
        assertThat(hashes.at(closedAt)).isNull();
        assertThat(hashes.at(closedAt - 1)).as("packed").isNotSameAs(extended);
        hashes.extend(extended);
        assertThat(hashes.at(closedAt)).isSameAs(extended);
    }

    @Test
    void aLargeFileTakesFewBytesForEachSegment() {
        ContentHashes small = measured(() -> read(0, 2L * RECENT, new ContentHashes(limits(), ids)));
        long withoutSegments = retained;
        ContentHashes large = measured(() -> read(0, FILE, new ContentHashes(limits(), ids)));
        double perSegment = (retained - withoutSegments) / (FILE / (double) SEGMENT);
        assertThat(perSegment).isLessThan(MOST_BYTES_PER_SEGMENT);
        assertThat(large.at(FILE / 2)).isNotNull();
        assertThat(small.at(RECENT)).isNotNull();
    }

    /** Sets {@link #retained}. */
    private ContentHashes measured(Supplier<ContentHashes> work) {
        stored.clear();
        long before = used();
        ContentHashes result = work.get();
        save(result);
        stored.clear();
        retained = used() - before;
        return result;
    }

    private static long used() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
