package io.tailrace.reassembly.content;

import io.tailrace.reassembly.ReassemblyLimits;
import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateWriter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Hashes of what was read of one file: one for each segment of about 64 KiB, and one for each line of the first
 * segment and of the most recent ones. Line ends are not hashed, because a collector may send them shortened.
 *
 * <p>Memory: 16 bytes for each segment that is stored and whose lines are forgotten, in addition to the stored bytes.
 */
public final class ContentHashes {

    private static final int SEGMENTS_PER_PAGE = 64;

    /** Lines {@code [from, to)} of the file. */
    public static final class Segment {
        private final long from;
        private long to;
        private long hash;
        private boolean closed;
        private boolean paged;
        private int lines;
        private int[] lineStarts = new int[16];
        private int[] lineHashes = new int[16];
        private long linesStoredAs;

        private Segment(long from) {
            this.from = from;
            this.to = from;
        }

        /** Creates a closed segment without hashes of lines. */
        Segment(long from, long to, long hash) {
            this.from = from;
            this.to = to;
            this.hash = hash;
            closed = true;
            lineStarts = null;
            lineHashes = null;
        }

        public long from() {
            return from;
        }

        public long to() {
            return to;
        }

        long hash() {
            return hash;
        }

        boolean knowsLines() {
            return lineStarts != null;
        }

        private void add(long lineFrom, long lineTo, long lineHash) {
            if (lines == lineStarts.length) {
                lineStarts = Arrays.copyOf(lineStarts, lines * 2);
                lineHashes = Arrays.copyOf(lineHashes, lines * 2);
            }
            lineStarts[lines] = (int) (lineFrom - from);
            lineHashes[lines++] = (int) lineHash;
            hash = LineHashes.join(hash, lineHash);
            to = lineTo;
        }

        /** Returns whether this line was read at that offset; valid only if hashes of lines are stored. */
        boolean holdsLine(long offset, long lineHash) {
            int index = Arrays.binarySearch(lineStarts, 0, lines, (int) (offset - from));
            return index >= 0 && lineHashes[index] == (int) lineHash;
        }

        /** Returns whether a line ends before that offset; valid only if hashes of lines are stored. */
        boolean endsLineAt(long offset) {
            return offset == to || Arrays.binarySearch(lineStarts, 0, lines, (int) (offset - from)) >= 0;
        }

        private void forgetLines(StateWriter.Ids ids) {
            lineStarts = null;
            lineHashes = null;
            ids.release(linesStoredAs);
            linesStoredAs = 0;
        }
    }

    private final ReassemblyLimits limits;
    private final StateWriter.Ids ids;
    /** Segments that may change, have hashes of lines or are in no page yet; of equal starts, this one is valid. */
    private final TreeMap<Long, Segment> segments = new TreeMap<>();
    /** All others. */
    private final PackedSegments packed = new PackedSegments();

    private final ArrayDeque<Segment> recent = new ArrayDeque<>();
    private final List<Segment> unpaged = new ArrayList<>();
    private final List<Long> pages = new ArrayList<>();
    private long recentBytes;

    public ContentHashes(ReassemblyLimits limits, StateWriter.Ids ids) {
        this.limits = limits;
        this.ids = ids;
    }

    /** Returns the segment that contains an offset; null if it was not read. */
    public Segment at(long offset) {
        Map.Entry<Long, Segment> floor = segments.floorEntry(offset);
        if (floor != null && offset < floor.getValue().to) {
            return floor.getValue();
        }
        Segment older = packed.floor(offset);
        return older != null && offset < older.to ? older : null;
    }

    /** Records a line after the last one of {@code open}, or the first of a new segment; returns the open segment. */
    public Segment add(Segment open, long lineFrom, long lineTo, long lineHash) {
        Segment segment = open;
        if (segment == null || segment.closed) {
            segment = new Segment(lineFrom);
            segments.put(lineFrom, segment);
        }
        segment.add(lineFrom, lineTo, lineHash);
        if (segment.to - segment.from >= limits.segmentBytes()) {
            close(segment);
        }
        return segment;
    }

    /** Extends the last line of a segment by one byte. */
    public void extend(Segment segment) {
        segment.to++;
        segments.put(segment.from, segment);
    }

    /** Closes a segment: no line follows its last one. */
    public void close(Segment segment) {
        if (segment == null || segment.closed) {
            return;
        }
        segment.closed = true;
        segment.lineStarts = Arrays.copyOf(segment.lineStarts, segment.lines);
        segment.lineHashes = Arrays.copyOf(segment.lineHashes, segment.lines);
        unpaged.add(segment);
        remember(segment);
    }

    private void remember(Segment segment) {
        if (segment.from == 0) {
            return;
        }
        recent.add(segment);
        recentBytes += segment.to - segment.from;
        while (recentBytes > limits.recentBytes()) {
            forgetOldest();
        }
    }

    private void forgetOldest() {
        Segment oldest = recent.poll();
        recentBytes -= oldest.to - oldest.from;
        oldest.forgetLines(ids);
        pack(oldest);
    }

    private void pack(Segment segment) {
        if (segment.paged && !segment.knowsLines() && PackedSegments.accepts(segment)) {
            packed.put(segment);
            segments.remove(segment.from);
        }
    }

    /** Discards all hashes of lines except those of the first segment; returns whether there were any. */
    public boolean forgetRecent() {
        boolean some = !recent.isEmpty();
        while (!recent.isEmpty()) {
            forgetOldest();
        }
        return some;
    }

    /** Releases all stored bytes. */
    public void release() {
        pages.forEach(ids::release);
        segments.values().forEach(segment -> ids.release(segment.linesStoredAs));
    }

    public void save(StateWriter out) {
        savePages(out);
        out.number(pages.size());
        pages.forEach(out::number);
        out.number(unpaged.size());
        unpaged.forEach(segment -> saveSegment(out, segment));
        List<Segment> withLines =
                segments.values().stream().filter(Segment::knowsLines).toList();
        out.number(withLines.size());
        withLines.forEach(segment -> saveLines(out, segment));
        out.number(recent.size());
        recent.forEach(segment -> out.number(segment.from));
    }

    /**
     * Stores pages of closed segments. The newest closed segment is excluded, because {@link #extend} may still
     * change it.
     */
    private void savePages(StateWriter out) {
        while (unpaged.size() > SEGMENTS_PER_PAGE) {
            StateWriter page = out.another();
            List<Segment> full = unpaged.subList(0, SEGMENTS_PER_PAGE);
            page.number(full.size());
            for (Segment segment : full) {
                saveSegment(page, segment);
                segment.paged = true;
                pack(segment);
            }
            full.clear();
            pages.add(out.store(page.toBytes()));
        }
    }

    private static void saveSegment(StateWriter out, Segment segment) {
        out.number(segment.from);
        out.number(segment.to);
        out.number(segment.hash);
    }

    private static void saveLines(StateWriter out, Segment segment) {
        out.number(segment.from);
        out.flag(segment.closed);
        if (!segment.closed) {
            saveSegment(out, segment);
            saveLineHashes(out, segment);
            return;
        }
        if (segment.linesStoredAs == 0) {
            StateWriter lines = out.another();
            saveLineHashes(lines, segment);
            segment.linesStoredAs = out.store(lines.toBytes());
        }
        out.number(segment.linesStoredAs);
    }

    private static void saveLineHashes(StateWriter out, Segment segment) {
        out.number(segment.lines);
        int previous = 0;
        for (int i = 0; i < segment.lines; i++) {
            out.number(segment.lineStarts[i] - previous);
            out.number(segment.lineHashes[i]);
            previous = segment.lineStarts[i];
        }
    }

    public void restore(StateReader in) {
        for (int count = in.count(); count > 0; count--) {
            long id = in.number();
            pages.add(id);
            StateReader page = in.open(id);
            for (int segmentsOfPage = page.count(); segmentsOfPage > 0; segmentsOfPage--) {
                restoreSegment(page, true).paged = true;
            }
        }
        for (int count = in.count(); count > 0; count--) {
            unpaged.add(restoreSegment(in, true));
        }
        for (int count = in.count(); count > 0; count--) {
            restoreLines(in);
        }
        for (int count = in.count(); count > 0; count--) {
            Segment segment = segments.get(in.number());
            recent.add(segment);
            recentBytes += segment.to - segment.from;
        }
        List.copyOf(segments.values()).forEach(this::pack);
    }

    private Segment restoreSegment(StateReader in, boolean closed) {
        Segment segment = new Segment(in.number());
        segment.to = in.number();
        segment.hash = in.number();
        segment.closed = closed;
        segment.lineStarts = null;
        segment.lineHashes = null;
        segments.put(segment.from, segment);
        return segment;
    }

    private void restoreLines(StateReader in) {
        long from = in.number();
        boolean closed = in.flag();
        if (closed) {
            Segment segment = segments.get(from);
            segment.linesStoredAs = in.number();
            restoreLineHashes(in.open(segment.linesStoredAs), segment);
        } else {
            restoreLineHashes(in, restoreSegment(in, false));
        }
    }

    private static void restoreLineHashes(StateReader in, Segment segment) {
        segment.lines = in.count();
        segment.lineStarts = new int[Math.max(segment.lines, 1)];
        segment.lineHashes = new int[Math.max(segment.lines, 1)];
        int start = 0;
        for (int i = 0; i < segment.lines; i++) {
            start += in.count();
            segment.lineStarts[i] = start;
            segment.lineHashes[i] = in.count();
        }
    }
}
