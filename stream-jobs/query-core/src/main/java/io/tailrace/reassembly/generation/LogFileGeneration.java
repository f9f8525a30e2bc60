package io.tailrace.reassembly.generation;

import io.tailrace.event.EventId;
import io.tailrace.event.PostingKind;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.framing.LogFormats;
import io.tailrace.framing.LogOrigin;
import io.tailrace.reassembly.CensusRecord;
import io.tailrace.reassembly.FramedEntry;
import io.tailrace.reassembly.LineBlock;
import io.tailrace.reassembly.LogId;
import io.tailrace.reassembly.ReassemblyLimits;
import io.tailrace.reassembly.content.ContentComparison;
import io.tailrace.reassembly.content.ContentHashes;
import io.tailrace.reassembly.content.FileHead;
import io.tailrace.reassembly.content.LineHashes;
import io.tailrace.reassembly.content.RangeHashes;
import io.tailrace.reassembly.ledger.LedgerWriter;
import io.tailrace.reassembly.ledger.PostingBuffer;
import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateVersion;
import io.tailrace.reassembly.state.StateWriter;
import io.tailrace.reassembly.state.TwoClockTime;
import java.util.function.BooleanSupplier;

/** One file of a log: what was read of it, how its bytes were posted, and what is missing. */
public final class LogFileGeneration implements FrameListener, LineReader.RangeRecorder {

    /**
     * Bytes after the posted banner that suffice to identify a file: more than a banner that is not posted yet can
     * have.
     */
    private static final int DISTINCTIVE_BYTES = 512;

    /** Period after a file's end in which its lines may arrive again one by one. */
    private static final long LATE_MILLIS = 600_000;

    private final long number;
    private final LedgerWriter poster;
    private final LogFormats formats;
    private final ReassemblyLimits limits;
    private final StateWriter.Ids ids;
    private final BooleanSupplier signed;
    private final ContentHashes hashes;
    private final RangeHashes ranges;
    private final LineReader reader;
    private final PostingBuffer postings = new PostingBuffer();
    private final GapRegions gaps;
    private final FileHead head = new FileHead();
    private final FileStatus file = new FileStatus();
    private final PostedFrontier postedFrontier = new PostedFrontier();

    private String cluster = "";
    private String zone = "";
    private String path = "";
    private long firstEntryEnd = Long.MAX_VALUE;
    /** End of the framing at the start of the file. */
    private long bannerEnd;

    private boolean ended;
    private long endedAt;
    private TwoClockTime lastBlockAt = TwoClockTime.NEVER;
    private long lastReadAt;
    private long firstReadAt;
    private String firstPath = "";
    private boolean changed = true;
    private long storedAs;

    /** @param signed whether signed ranges of the log have arrived */
    public LogFileGeneration(
            long number,
            LedgerWriter poster,
            LogFormats formats,
            ReassemblyLimits limits,
            StateWriter.Ids ids,
            BooleanSupplier signed) {
        this.number = number;
        this.poster = poster;
        this.formats = formats;
        this.limits = limits;
        this.ids = ids;
        this.signed = signed;
        ranges = new RangeHashes(limits.rangeBytes());
        hashes = new ContentHashes(limits, ids);
        reader = newReader();
        reader.listen(this);
        gaps = new GapRegions(this, reader, this::newReader, limits, ids);
    }

    private LineReader newReader() {
        return new LineReader(poster.id().source(), formats, limits, hashes, this, ids);
    }

    public long number() {
        return number;
    }

    public String path() {
        return path;
    }

    PostingBuffer postings() {
        return postings;
    }

    /** Returns the offset up to which the file was read, gaps included. */
    public long frontier() {
        return reader.frontier();
    }

    public boolean ended() {
        return ended;
    }

    /** Returns whether lines at the frontier are expected: the file has not ended, or has grown since. */
    public boolean expectsMore() {
        return !ended || file.size() > reader.frontier();
    }

    public long endedAt() {
        return endedAt;
    }

    public TwoClockTime lastBlockAt() {
        return lastBlockAt;
    }

    /** Returns the time at which the collector read the newest line, in epoch milliseconds of its clock. */
    public long lastReadAt() {
        return lastReadAt;
    }

    /** Returns the time at which the collector read the first lines, in epoch milliseconds of its clock. */
    public long firstReadAt() {
        return firstReadAt;
    }

    /** Returns the file's path at that time. */
    public String firstPath() {
        return firstPath;
    }

    /** Returns the file's state according to the censuses. */
    public FileStatus file() {
        return file;
    }

    /** Returns whether a line at an offset continues the file. A line end of one byte may prove to have two. */
    public boolean continuesAt(long offset) {
        return offset == reader.frontier() || (offset == reader.frontier() + 1 && reader.endMayBeLonger());
    }

    public boolean endMayBeLonger() {
        return reader.endMayBeLonger();
    }

    public void extendLastLine() {
        changed = true;
        head.extendLastLine(reader.frontier());
        reader.extendLastLine();
    }

    /** Returns whether the first bytes of a file are those of this one; null if too few were read to decide. */
    public Boolean hasHead(int length, String md5) {
        return head.matches(length, md5, reader.frontier(), reader.endMayBeLonger());
    }

    /** Returns whether the latest lines of the file end with a carriage return and a line feed. */
    public boolean lineEndsAreLong() {
        return reader.endMayBeLonger() && reader.lineEndsAreLong();
    }

    /** Returns whether a head of this length is more than a banner. */
    public boolean isDistinctive(int headLength) {
        return headLength >= distinctiveFrom();
    }

    private long distinctiveFrom() {
        return Math.min(firstEntryEnd, bannerEnd + DISTINCTIVE_BYTES);
    }

    /** Compares repeated lines with what was read. */
    public ContentComparison compare(UnassignedLines run) {
        ContentComparison comparison =
                new ContentComparison(hashes, run.from(), reader.frontier(), distinctiveFrom(), run.sameAs() == number);
        run.compare(comparison);
        return comparison;
    }

    /** Reads whole lines that start at the frontier. */
    public void read(LineBlock block, int from, TwoClockTime now) {
        takeOrigin(block, now);
        if (block.offset() + from > reader.frontier()) {
            extendLastLine();
        }
        ended = false;
        file.mayGrow();
        head.keep(block.bytes(), from, reader.frontier());
        reader.read(block.origin().format(), block.bytes(), from, block.bytes().length);
    }

    /** Initializes a generation that the census found before any line of it arrived. */
    public void foundBy(CensusRecord record) {
        cluster = record.cluster();
        path = record.path();
        poster.origin(cluster, path);
    }

    private void takeOrigin(LineBlock block, TwoClockTime now) {
        changed = true;
        cluster = block.origin().cluster();
        zone = block.origin().zone();
        path = block.origin().path();
        lastBlockAt = now;
        lastReadAt = Math.max(lastReadAt, block.readAt());
        if (firstPath.isEmpty()) {
            firstPath = path;
            firstReadAt = block.readAt();
        }
        poster.origin(cluster, path);
    }

    /**
     * Takes lines that are known to belong to this file: reads new ones, fills gaps, and counts the rest as
     * duplicates.
     *
     * @param until file offset to stop at
     * @return index of the first byte that could not be placed yet
     */
    public int absorb(LineBlock block, int from, long until, TwoClockTime now) {
        takeOrigin(block, now);
        int to = (int) Math.min(block.bytes().length, until - block.offset());
        int index = from;
        while (index < to) {
            int next = absorbPart(block, index, to, now);
            if (next == index) {
                return index;
            }
            index = next;
        }
        return index;
    }

    private int absorbPart(LineBlock block, int from, int to, TwoClockTime now) {
        long offset = block.offset() + from;
        GapRegion region = gaps.fillableAt(offset);
        if (region != null) {
            return gaps.fill(region, block, from, to);
        }
        if (continuesAt(offset)) {
            read(block, from, now);
            return block.bytes().length;
        }
        if (hashes.at(offset) == null) {
            return from;
        }
        return duplicate(block, from, to);
    }

    /** Counts lines as duplicates, up to the next missing byte. */
    private int duplicate(LineBlock block, int from, int to) {
        long stop = gaps.missingAfter(block.offset() + from);
        int index = from;
        long lines = 0;
        while (index < to && block.offset() + index < stop && hashes.at(block.offset() + index) != null) {
            index = LineHashes.end(block.bytes(), index, to);
            lines++;
        }
        postings.add(PostingKind.DUPLICATE, "", block.offset() + from, block.offset() + index, lines);
        return index;
    }

    /** Returns whether the byte at an offset below the frontier was never read. */
    public boolean misses(long offset) {
        return offset < reader.frontier() && hashes.at(offset) == null;
    }

    /** Counts lines of a block as duplicates. */
    public void duplicates(LineBlock block, int from, int to) {
        changed = true;
        long lines = 0;
        for (int line = from; line < to; line = LineHashes.end(block.bytes(), line, to)) {
            lines++;
        }
        postings.add(PostingKind.DUPLICATE, "", block.offset() + from, block.offset() + to, lines);
    }

    /** Records that the bytes up to an offset are lost, and continues there. */
    public void gap(long resumeAt, String detail) {
        changed = true;
        ranges.gap(resumeAt);
        gaps.add(resumeAt, detail);
    }

    // ---- signed ranges ----

    @Override
    public void read(byte[] bytes, int from, int to, long offset) {
        ranges.read(bytes, from, to, offset, signed.getAsBoolean());
    }

    @Override
    public void extendLastLine(long offset) {
        ranges.extendLastLine(offset);
    }

    void forgetRangesOfGap(long offset) {
        ranges.forgetGap(offset);
    }

    /** Compares a signed range with the bytes of this file. */
    public RangeHashes.Comparison compare(long from, long to, boolean closed, byte[] hash) {
        boolean aligned = ranges.aligned();
        RangeHashes.Comparison result = ranges.compare(from, to, closed, hash);
        changed |= aligned != ranges.aligned();
        boolean unknown = result == RangeHashes.Comparison.UNKNOWN || result == RangeHashes.Comparison.PASSED;
        return unknown && missesAny(from, to) ? RangeHashes.Comparison.GAP : result;
    }

    /** Takes it that a signed range was compared and is equal: its hash is not needed any more. */
    public void settle(long from, long to, boolean closed) {
        changed = true;
        ranges.settle(from, to, closed);
    }

    /** Returns whether a part of the file was equal to a signed range. */
    public boolean verified() {
        return ranges.verified();
    }

    private boolean missesAny(long from, long to) {
        long offset = from;
        while (offset < to) {
            ContentHashes.Segment segment = hashes.at(offset);
            if (segment == null) {
                return true;
            }
            offset = segment.to();
        }
        return false;
    }

    /** Ends the file and reports what is pending. */
    public void end(long now) {
        changed = true;
        poster.origin(cluster, path);
        reader.end();
        gaps.end();
        ended = true;
        endedAt = now;
    }

    @Override
    public void entry(long from, long to, EntryContext context) {
        firstEntryEnd = Math.min(firstEntryEnd, to);
        gaps.closeAtEntry(from, to);
        postEntry(reader, from, to, context, false);
    }

    /** Posts an entry that a reader of this file found. */
    void postEntry(LineReader by, long from, long to, EntryContext context, boolean backfill) {
        postings.add(PostingKind.ENTRY, "", from, to, 1);
        LogId id = poster.id();
        poster.output()
                .entry(new FramedEntry(
                        new LogOrigin(
                                cluster, id.instance(), id.source(), by.format().name(), zone, id.log()),
                        path,
                        number,
                        from,
                        by.copy(from, to),
                        context,
                        backfill));
    }

    @Override
    public void framing(long from, long to, FramingKind kind) {
        postings.add(PostingKind.FRAMING, kind.name(), from, to, 1);
        bannerEnd = from == bannerEnd ? to : bannerEnd;
        if (gaps.isOpen()) {
            gaps.addToOpen(PostingKind.FRAMING, kind.name(), from, to, null, reader.copy(from, to));
        }
    }

    @Override
    public void rejected(long from, long to, DeadLetterCode code, String message) {
        byte[] bytes = reader.copy(from, to);
        EventId letter = postDeadLetter(from, bytes, code, message);
        gaps.addToOpen(PostingKind.DEAD_LETTER, code.name(), from, to, letter, bytes);
    }

    EventId postDeadLetter(long from, byte[] bytes, DeadLetterCode code, String message) {
        postings.add(PostingKind.DEAD_LETTER, code.name(), from, from + bytes.length, 1);
        return poster.deadLetter(number, from, bytes, code.name(), message);
    }

    void supersede(EventId letter, long from, long to, String code) {
        poster.supersede(letter, number, from, to - from, code);
    }

    /**
     * Writes the buffered postings, and the frontier if it has moved and its last posting is at least one second old.
     *
     * @return whether this has changed the state
     */
    public boolean flush(long now) {
        boolean forgot = ended && now - endedAt >= LATE_MILLIS && hashes.forgetRecent();
        poster.origin(cluster, path);
        gaps.settle();
        boolean posted = !postings.isEmpty();
        postings.flush(poster, number);
        boolean moved = postedFrontier.post(poster, number, reader, file, now);
        boolean flushed = forgot || posted || moved;
        changed |= flushed;
        return flushed;
    }

    /** Returns whether a later flush has something to write. */
    public boolean frontierMoved() {
        return postedFrontier.hasMoved(reader, file);
    }

    /** Releases everything that is stored. */
    public void release() {
        reader.release();
        gaps.release();
        hashes.release();
        ids.release(storedAs);
    }

    /** Stores what has changed; returns the number under which it is stored. */
    public long save(StateWriter out) {
        if (changed || file.changed()) {
            ids.release(storedAs);
            StateWriter own = out.another();
            saveFields(own);
            hashes.save(own);
            reader.save(own);
            gaps.save(own);
            ranges.save(own);
            storedAs = out.store(own.toBytes());
            changed = false;
        }
        return storedAs;
    }

    private void saveFields(StateWriter out) {
        out.text(cluster);
        out.text(zone);
        out.text(path);
        head.save(out);
        out.number(firstEntryEnd);
        out.number(bannerEnd);
        out.flag(ended);
        out.number(endedAt);
        lastBlockAt.save(out);
        out.number(lastReadAt);
        out.number(firstReadAt);
        out.text(firstPath);
        file.save(out);
        postedFrontier.save(out);
    }

    public void restore(StateReader in, long id) {
        storedAs = id;
        changed = in.version() < StateVersion.CURRENT;
        restoreFields(in);
        hashes.restore(in);
        reader.restore(in);
        gaps.restore(in);
        if (in.version() >= StateVersion.WITH_SIGNED_RANGES) {
            ranges.restore(in);
        } else {
            ranges.startAt(reader.frontier());
        }
    }

    private void restoreFields(StateReader in) {
        cluster = in.text();
        zone = in.text();
        path = in.text();
        head.restore(in);
        firstEntryEnd = in.number();
        bannerEnd = in.number();
        ended = in.flag();
        endedAt = in.number();
        lastBlockAt = TwoClockTime.restore(in);
        lastReadAt = in.number();
        firstReadAt = in.number();
        firstPath = in.text();
        file.restore(in);
        postedFrontier.restore(in);
    }
}
