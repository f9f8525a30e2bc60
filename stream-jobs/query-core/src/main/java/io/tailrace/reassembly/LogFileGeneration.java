package io.tailrace.reassembly;

import io.tailrace.event.EventId;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.framing.LogFormats;
import java.util.Arrays;
import java.util.TreeMap;

/** One file of a log: what of it was read, what became of it, and what is missing. */
final class LogFileGeneration implements FrameListener {

    private static final int HEAD_BYTES = 4096;
    /**
     * More than a banner not yet posted can have: so many equal bytes after the posted one are one file's.
     */
    private static final int DISTINCTIVE_BYTES = 512;

    private static final int FIRST_LINES_BYTES = 4096;
    private static final long FRONTIER_MILLIS = 1000;
    /** How long after a file's end its lines may come again one by one. */
    private static final long LATE_MILLIS = 600_000;

    private final long number;
    private final LedgerWriter poster;
    private final LogFormats formats;
    private final ReassemblyLimits limits;
    private final StateWriter.Ids ids;
    private final ContentHashes hashes;
    private final LineReader reader;
    private final PostingBuffer postings = new PostingBuffer();
    private final TreeMap<Long, GapRegion> regions = new TreeMap<>();
    /** The region after which no entry has been found yet. */
    private GapRegion open;

    /** A hole is being reported: an entry that ends there is none that the hole spoilt. */
    private boolean cutEntry;

    private String cluster = "";
    private String zone = "";
    private String path = "";
    private byte[] head = new byte[0];
    /**
     * The bytes of the head before this index are as in the file; a later line end may be another of two
     * bytes.
     */
    private int headSureTo = HEAD_BYTES;

    private long firstEntryEnd = Long.MAX_VALUE;
    /** End of the framing that the file begins with. */
    private long bannerEnd;

    private boolean ended;
    private long endedAt;
    private TwoClockTime lastBlockAt = TwoClockTime.NEVER;
    private long lastReadAt;
    private long firstReadAt;
    private String firstPath = "";
    private long inode;
    private boolean gone;
    private long size;
    private TwoClockTime finalSince = TwoClockTime.NEVER;
    private long postedAccounted = -1;
    private long postedFrontier = -1;
    private long postedInode;
    private long frontierPostedAt;
    private boolean changed = true;
    private long storedAs;

    LogFileGeneration(
            long number, LedgerWriter poster, LogFormats formats, ReassemblyLimits limits, StateWriter.Ids ids) {
        this.number = number;
        this.poster = poster;
        this.formats = formats;
        this.limits = limits;
        this.ids = ids;
        hashes = new ContentHashes(limits, ids);
        reader = newReader();
        reader.listen(this);
    }

    private LineReader newReader() {
        return new LineReader(poster.id().source(), formats, limits, hashes, ids);
    }

    long number() {
        return number;
    }

    String path() {
        return path;
    }

    PostingBuffer postings() {
        return postings;
    }

    /** How far the file was read, gaps included. */
    long frontier() {
        return reader.frontier();
    }

    boolean ended() {
        return ended;
    }

    /** Whether lines at the frontier are expected: the file has not ended, or has grown since. */
    boolean expectsMore() {
        return !ended || size > reader.frontier();
    }

    long endedAt() {
        return endedAt;
    }

    TwoClockTime lastBlockAt() {
        return lastBlockAt;
    }

    /** When the collector read the newest line, epoch milliseconds of its clock. */
    long lastReadAt() {
        return lastReadAt;
    }

    /** When the collector read the first lines, epoch milliseconds of its clock. */
    long firstReadAt() {
        return firstReadAt;
    }

    /** The file's path then. */
    String firstPath() {
        return firstPath;
    }

    /** 0 while no census has shown the file, or when it is gone. */
    long inode() {
        return inode;
    }

    /** The largest size that the census has shown. */
    long size() {
        return size;
    }

    /** The census has shown that the file is no longer there. */
    boolean gone() {
        return gone;
    }

    void bind(long toInode) {
        inode = toInode;
        gone = false;
        changed = true;
    }

    /** The file was taken for another one. */
    void unbind() {
        inode = 0;
        size = 0;
        changed = true;
    }

    /** The file's inode belongs to another file now. */
    void recordLostFile() {
        inode = 0;
        gone = true;
        changed = true;
    }

    void grewTo(long censusSize) {
        if (censusSize > size) {
            size = censusSize;
            changed = true;
        }
    }

    /** Nothing will be written to the file any more. */
    boolean isFinal() {
        return finalSince != TwoClockTime.NEVER;
    }

    /** Since when the file is final. */
    TwoClockTime finalSince() {
        return finalSince;
    }

    void isFinalAt(TwoClockTime now) {
        if (!isFinal()) {
            changed = true;
            finalSince = now;
        }
    }

    void mayGrow() {
        changed |= isFinal();
        finalSince = TwoClockTime.NEVER;
    }

    /** Whether a line at an offset continues the file; a line end of one byte may turn out to be two. */
    boolean continuesAt(long offset) {
        return offset == reader.frontier() || (offset == reader.frontier() + 1 && reader.endMayBeLonger());
    }

    boolean endMayBeLonger() {
        return reader.endMayBeLonger();
    }

    void extendLastLine() {
        changed = true;
        if (head.length > 0 && head.length == reader.frontier()) {
            headSureTo = Math.min(headSureTo, head.length - 1);
            head = Arrays.copyOf(longerHead(), Math.min(head.length + 1, HEAD_BYTES));
        }
        reader.extendLastLine();
    }

    /** Whether a file's first bytes are this one's; null while too few were read to tell. */
    Boolean hasHead(int length, String md5) {
        boolean endsAtFrontier = head.length == reader.frontier() && reader.endMayBeLonger();
        if (endsAtFrontier && length == head.length + 1) {
            return md5.equals(HeadHash.hex(longerHead(), length)) ? Boolean.TRUE : null;
        }
        if (length == 0 || length > head.length) {
            return null;
        }
        boolean equal = md5.equals(HeadHash.hex(head, length));
        boolean unsure = length > headSureTo || (endsAtFrontier && length == head.length);
        return !equal && unsure ? null : (Boolean) equal;
    }

    private byte[] longerHead() {
        byte[] longer = Arrays.copyOf(head, head.length + 1);
        longer[head.length - 1] = '\r';
        longer[head.length] = '\n';
        return longer;
    }

    /** Whether lines of the file end with a carriage return and a line feed, as far as the last ones tell. */
    boolean lineEndsAreLong() {
        return reader.endMayBeLonger() && reader.lineEndsAreLong();
    }

    /** Whether so much of the head is more than a banner. */
    boolean isDistinctive(int headLength) {
        return headLength >= distinctiveFrom();
    }

    private long distinctiveFrom() {
        return Math.min(firstEntryEnd, bannerEnd + DISTINCTIVE_BYTES);
    }

    /** Compares lines that came again with what was read. */
    ContentComparison compare(UnassignedLines run) {
        ContentComparison comparison =
                new ContentComparison(hashes, run.from(), reader.frontier(), distinctiveFrom(), run.sameAs() == number);
        run.compare(comparison);
        return comparison;
    }

    /** Reads whole lines that start at the frontier. */
    void read(LineBlock block, int from, TwoClockTime now) {
        takeOrigin(block, now);
        if (block.offset() + from > reader.frontier()) {
            extendLastLine();
        }
        ended = false;
        finalSince = TwoClockTime.NEVER;
        keepHead(block.bytes(), from);
        reader.read(block.format(), block.bytes(), from, block.bytes().length);
    }

    /** The census knows the file before any line of it came. */
    void foundBy(CensusRecord record) {
        cluster = record.cluster();
        path = record.path();
        poster.origin(cluster, path);
    }

    private void takeOrigin(LineBlock block, TwoClockTime now) {
        changed = true;
        cluster = block.cluster();
        zone = block.zone();
        path = block.path();
        lastBlockAt = now;
        lastReadAt = Math.max(lastReadAt, block.readAt());
        if (firstPath.isEmpty()) {
            firstPath = path;
            firstReadAt = block.readAt();
        }
        poster.origin(cluster, path);
    }

    private void keepHead(byte[] bytes, int from) {
        if (reader.frontier() == head.length && head.length < HEAD_BYTES) {
            int more = Math.min(HEAD_BYTES - head.length, bytes.length - from);
            byte[] longer = Arrays.copyOf(head, head.length + more);
            System.arraycopy(bytes, from, longer, head.length, more);
            head = longer;
        }
    }

    /**
     * Takes lines that are known to be this file's: reads new ones, fills gaps, counts the rest as
     * duplicates.
     *
     * @param until file offset to stop at
     * @return index of the first byte that has no place yet
     */
    int absorb(LineBlock block, int from, long until, TwoClockTime now) {
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
        GapRegion region = fillableAt(offset);
        if (region != null) {
            return fill(region, block, from, to);
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

    private GapRegion fillableAt(long offset) {
        for (GapRegion region : regions.values()) {
            if (region.continuesAt(offset)) {
                return region;
            }
        }
        return null;
    }

    private int fill(GapRegion region, LineBlock block, int from, int to) {
        if (region.frontier() < block.offset() + from) {
            region.readLineEnd(block.format());
        }
        int end = (int) Math.min(to, region.neededTo() - block.offset());
        if (end <= from) {
            return from;
        }
        if (region.read(block.format(), block.bytes(), from, end, block.backfill())) {
            finish(region);
        }
        return end;
    }

    private void finish(GapRegion region) {
        regions.remove(region.from());
        if (region == open && !ended && region.reader().format() != null) {
            open = null;
            region.handOver();
            reader.continueFrom(region.reader());
        } else {
            open = region == open ? null : open;
            region.finish();
        }
        region.release();
    }

    /** Counts lines as duplicates up to where something is missing. */
    private int duplicate(LineBlock block, int from, int to) {
        long stop = reader.frontier();
        for (GapRegion region : regions.values()) {
            stop = region.frontier() > block.offset() + from ? Math.min(stop, region.frontier()) : stop;
        }
        int index = from;
        long lines = 0;
        while (index < to && block.offset() + index < stop && hashes.at(block.offset() + index) != null) {
            index = LineHashes.end(block.bytes(), index, to);
            lines++;
        }
        postings.add(PostingKind.DUPLICATE, "", block.offset() + from, block.offset() + index, lines);
        return index;
    }

    /** Whether the byte at an offset below the frontier was never read. */
    boolean misses(long offset) {
        return offset < reader.frontier() && hashes.at(offset) == null;
    }

    /** Counts lines of a block as duplicates. */
    void duplicates(LineBlock block, int from, int to) {
        changed = true;
        long lines = 0;
        for (int line = from; line < to; line = LineHashes.end(block.bytes(), line, to)) {
            lines++;
        }
        postings.add(PostingKind.DUPLICATE, "", block.offset() + from, block.offset() + to, lines);
    }

    /** Records that the bytes up to an offset are lost, and reads on there. */
    void gap(long resumeAt, String detail) {
        changed = true;
        long from = reader.frontier();
        GapRegion region = open == null ? recordLossAfterEntry(resumeAt) : recordRepeatedLoss(resumeAt);
        region = region == null ? new GapRegion(this, limits, ids, readerWithoutPast(from), from) : region;
        region.add(PostingKind.GAP, detail, from, resumeAt, null, null);
        postings.add(PostingKind.GAP, detail, from, resumeAt, 1);
        regions.put(region.from(), region);
        open = region;
    }

    /** The region that the gap opens; null if what is pending does not belong to it. */
    private GapRegion recordLossAfterEntry(long resumeAt) {
        if (reader.frontier() - reader.accounted() > limits.edgeBytes()) {
            reader.hole(resumeAt);
            return null;
        }
        GapRegion region = new GapRegion(this, limits, ids, reader.fork(ids), reader.accounted());
        open = region;
        cutEntry = true;
        reader.hole(resumeAt);
        cutEntry = false;
        if (open != region) {
            region.release();
            return null;
        }
        return region;
    }

    /** The region that is open, with what is pending; null if an entry closes it. */
    private GapRegion recordRepeatedLoss(long resumeAt) {
        reader.hole(resumeAt);
        return open;
    }

    private LineReader readerWithoutPast(long offset) {
        LineReader fresh = newReader();
        fresh.startAt(reader.format(), offset);
        return fresh;
    }

    /** Nothing follows: what is pending is reported. */
    void end(long now) {
        changed = true;
        poster.origin(cluster, path);
        reader.end();
        open = null;
        ended = true;
        endedAt = now;
    }

    @Override
    public void entry(long from, long to, EntryContext context) {
        firstEntryEnd = Math.min(firstEntryEnd, to);
        if (open != null) {
            closeRegion(from, to);
        }
        postEntry(reader, from, to, context, false);
    }

    private void closeRegion(long from, long to) {
        if (!cutEntry) {
            open.close(firstLines(reader.copy(from, to)));
        }
        open = null;
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

    /** Posts an entry that some reader of this file found. */
    void postEntry(LineReader by, long from, long to, EntryContext context, boolean backfill) {
        postings.add(PostingKind.ENTRY, "", from, to, 1);
        LogId id = poster.id();
        poster.output()
                .entry(new FramedEntry(
                        cluster,
                        id.instance(),
                        id.source(),
                        by.format().name(),
                        zone,
                        id.log(),
                        path,
                        number,
                        from,
                        by.copy(from, to),
                        context.database(),
                        context.timeLine(),
                        context.account(),
                        context.loggedIn(),
                        context.forgedHeader(),
                        context.ambiguous(),
                        backfill));
    }

    @Override
    public void framing(long from, long to, FramingKind kind) {
        postings.add(PostingKind.FRAMING, kind.name(), from, to, 1);
        bannerEnd = from == bannerEnd ? to : bannerEnd;
        if (open != null) {
            open.add(PostingKind.FRAMING, kind.name(), from, to, null, reader.copy(from, to));
        }
    }

    @Override
    public void rejected(long from, long to, DeadLetterCode code, String message) {
        byte[] bytes = reader.copy(from, to);
        EventId letter = postDeadLetter(from, bytes, code, message);
        if (open != null) {
            open.add(PostingKind.DEAD_LETTER, code.name(), from, to, letter, bytes);
        }
    }

    EventId postDeadLetter(long from, byte[] bytes, DeadLetterCode code, String message) {
        postings.add(PostingKind.DEAD_LETTER, code.name(), from, from + bytes.length, 1);
        return poster.deadLetter(number, from, bytes, code.name(), message);
    }

    void supersede(EventId letter, long from, long to, String code) {
        poster.supersede(letter, number, from, to - from, code);
    }

    /**
     * Writes the postings that wait, and the frontier if it has moved and the last one is a second old.
     *
     * @return whether the state has changed by it
     */
    boolean flush(long now) {
        boolean forgot = ended && now - endedAt >= LATE_MILLIS && hashes.forgetRecent();
        poster.origin(cluster, path);
        regions.values().forEach(GapRegion::settle);
        boolean posted = !postings.isEmpty();
        postings.flush(poster, number);
        boolean moved = frontierMoved() && now - frontierPostedAt >= FRONTIER_MILLIS;
        if (moved) {
            postFrontier(now);
        }
        boolean flushed = forgot || posted || moved;
        changed |= flushed;
        return flushed;
    }

    /** Whether a flush later on has something to write. */
    boolean frontierMoved() {
        return postedFrontier != reader.frontier() || postedAccounted != reader.accounted() || postedInode != inode;
    }

    private void postFrontier(long now) {
        frontierPostedAt = now;
        postedFrontier = reader.frontier();
        postedAccounted = reader.accounted();
        postedInode = inode;
        LedgerEntry row = poster.row(number, PostingKind.FRONTIER, "", postedAccounted, postedFrontier);
        row.setSize(size);
        row.setInode(inode);
        poster.post(row);
    }

    /** Lets go of everything stored. */
    void release() {
        reader.release();
        regions.values().forEach(GapRegion::release);
        hashes.release();
        ids.release(storedAs);
    }

    /** Stores what has changed; returns the number it is stored under. */
    long save(StateWriter out) {
        if (changed) {
            ids.release(storedAs);
            StateWriter own = out.another();
            saveFields(own);
            hashes.save(own);
            reader.save(own);
            own.number(regions.size());
            regions.values().forEach(region -> region.save(own));
            own.number(open == null ? -1 : open.from());
            storedAs = out.store(own.toBytes());
            changed = false;
        }
        return storedAs;
    }

    private void saveFields(StateWriter out) {
        out.text(cluster);
        out.text(zone);
        out.text(path);
        out.bytes(head);
        out.number(headSureTo);
        out.number(firstEntryEnd);
        out.number(bannerEnd);
        out.flag(ended);
        out.number(endedAt);
        lastBlockAt.save(out);
        out.number(lastReadAt);
        out.number(firstReadAt);
        out.text(firstPath);
        out.number(inode);
        out.flag(gone);
        out.number(size);
        out.flag(isFinal());
        finalSince.save(out);
        out.number(postedAccounted);
        out.number(postedFrontier);
        out.number(postedInode);
        out.number(frontierPostedAt);
    }

    void restore(StateReader in, long id) {
        storedAs = id;
        changed = false;
        restoreFields(in);
        hashes.restore(in);
        reader.restore(in);
        for (int count = in.count(); count > 0; count--) {
            GapRegion region = GapRegion.restore(this, limits, ids, newReader(), in);
            regions.put(region.from(), region);
        }
        open = regions.get(in.number());
    }

    private void restoreFields(StateReader in) {
        cluster = in.text();
        zone = in.text();
        path = in.text();
        head = in.bytes();
        headSureTo = in.count();
        firstEntryEnd = in.number();
        bannerEnd = in.number();
        ended = in.flag();
        endedAt = in.number();
        lastBlockAt = TwoClockTime.restore(in);
        lastReadAt = in.number();
        firstReadAt = in.number();
        firstPath = in.text();
        inode = in.number();
        gone = in.flag();
        size = in.number();
        boolean isFinal = in.flag();
        TwoClockTime since = TwoClockTime.restore(in);
        finalSince = isFinal ? since : TwoClockTime.NEVER;
        postedAccounted = in.number();
        postedFrontier = in.number();
        postedInode = in.number();
        frontierPostedAt = in.number();
    }
}
