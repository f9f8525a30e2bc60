package io.tailrace.reassembly.generation;

import io.tailrace.event.EventId;
import io.tailrace.event.PostingKind;
import io.tailrace.reassembly.LineBlock;
import io.tailrace.reassembly.ReassemblyLimits;
import io.tailrace.reassembly.content.LineHashes;
import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateWriter;
import java.util.Arrays;
import java.util.TreeMap;
import java.util.function.Supplier;

/** The gaps of a generation that late lines may still fill, by offset. */
final class GapRegions {

    private static final int FIRST_LINES_BYTES = 4096;

    private final LogFileGeneration generation;
    private final LineReader reader;
    private final Supplier<LineReader> newReader;
    private final ReassemblyLimits limits;
    private final StateWriter.Ids ids;
    private final TreeMap<Long, GapRegion> regions = new TreeMap<>();
    /** The region after which no entry has been found yet. */
    private GapRegion open;

    /** The region that opens after an entry which ends at a hole; set while that hole is reported. */
    private GapRegion next;

    /**
     *
     * @param reader main reader of the generation
     * @param newReader creates readers that have read nothing
     */
    GapRegions(
            LogFileGeneration generation,
            LineReader reader,
            Supplier<LineReader> newReader,
            ReassemblyLimits limits,
            StateWriter.Ids ids) {
        this.generation = generation;
        this.reader = reader;
        this.newReader = newReader;
        this.limits = limits;
        this.ids = ids;
    }

    /** Returns the region that a line at an offset continues, or null. */
    GapRegion fillableAt(long offset) {
        for (GapRegion region : regions.values()) {
            if (region.continuesAt(offset)) {
                return region;
            }
        }
        return null;
    }

    /** Reads bytes of a block into a region; returns the index of the first byte that the region does not need. */
    int fill(GapRegion region, LineBlock block, int from, int to) {
        if (region.frontier() < block.offset() + from) {
            region.readLineEnd(block.origin().format());
        }
        int end = (int) Math.min(to, region.neededTo() - block.offset());
        if (end <= from) {
            return from;
        }
        if (region.read(block.origin().format(), block.bytes(), from, end, block.backfill())) {
            finish(region);
        }
        return end;
    }

    private void finish(GapRegion region) {
        regions.remove(region.from());
        if (region == open && !generation.ended() && region.canHandOver()) {
            open = null;
            region.handOver();
            reader.continueFrom(region.reader());
        } else {
            open = region == open ? null : open;
            region.finish();
        }
        region.release();
    }

    /** Returns the offset of the first missing byte after another one; at most the frontier of the file. */
    long missingAfter(long offset) {
        long stop = reader.frontier();
        for (GapRegion region : regions.values()) {
            stop = region.frontier() > offset ? Math.min(stop, region.frontier()) : stop;
        }
        return stop;
    }

    /** Records that the bytes from the frontier of the file up to an offset are lost. */
    void add(long resumeAt, String detail) {
        long from = reader.frontier();
        GapRegion region = recordLoss(resumeAt);
        region = region == null ? new GapRegion(generation, limits, ids, readerWithoutPast(from), from) : region;
        region.add(PostingKind.GAP, detail, from, resumeAt, null, null);
        generation.postings().add(PostingKind.GAP, detail, from, resumeAt, 1);
        regions.put(region.from(), region);
        open = region;
    }

    /**
     * Ends what is pending and continues at an offset. Returns the region of the gap: the open one or, if none is
     * open or an entry has just closed it, a new one whose reader has read what precedes the gap. Returns null if too
     * many bytes are pending to store them.
     */
    private GapRegion recordLoss(long resumeAt) {
        if (reader.frontier() - reader.accounted() <= limits.edgeBytes()) {
            next = new GapRegion(generation, limits, ids, reader.fork(ids), reader.accounted());
            open = open == null ? next : open;
        }
        reader.hole(resumeAt);
        if (next != null && open != next) {
            next.release();
        }
        next = null;
        return open;
    }

    private LineReader readerWithoutPast(long offset) {
        LineReader fresh = newReader.get();
        fresh.startAt(reader.format(), offset);
        return fresh;
    }

    /** Closes the open region at an entry, unless the entry belongs to it. */
    void closeAtEntry(long from, long to) {
        if (open != null && open != next) {
            open.close(firstLines(reader.copy(from, to)));
        }
        open = next;
        if (next != null) {
            next.startAfter(to);
        }
    }

    private static byte[] firstLines(byte[] entry) {
        int end = LineHashes.end(entry, 0, entry.length);
        while (end < entry.length) {
            int next = LineHashes.end(entry, end, entry.length);
            if (next > FIRST_LINES_BYTES) {
                break;
            }
            end = next;
        }
        return Arrays.copyOf(entry, end);
    }

    /** Returns whether bytes outside of entries belong to a region. */
    boolean isOpen() {
        return open != null;
    }

    /** Adds a posting of bytes outside of entries to the open region, if there is one. */
    void addToOpen(PostingKind kind, String detail, long from, long to, EventId deadLetter, byte[] bytes) {
        if (open != null) {
            open.add(kind, detail, from, to, deadLetter, bytes);
        }
    }

    /** Closes the open region at the end of the file: no entry will follow. */
    void end() {
        open = null;
    }

    void settle() {
        regions.values().forEach(GapRegion::settle);
    }

    void release() {
        regions.values().forEach(GapRegion::release);
    }

    void save(StateWriter out) {
        out.number(regions.size());
        regions.values().forEach(region -> region.save(out));
        out.number(open == null ? -1 : open.from());
    }

    void restore(StateReader in) {
        for (int count = in.count(); count > 0; count--) {
            GapRegion region = GapRegion.restore(generation, limits, ids, newReader.get(), in);
            regions.put(region.from(), region);
        }
        open = regions.get(in.number());
    }
}
