package io.tailrace.reassembly.generation;

import io.tailrace.event.EventId;
import io.tailrace.event.PostingKind;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.reassembly.ReassemblyLimits;
import io.tailrace.reassembly.content.LineHashes;
import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateWriter;
import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * A gap together with the postings that it affected: the entry that it interrupts, and what was skipped after it
 * until the next entry. The region stores a reader in the state before the gap. If the missing bytes arrive later,
 * this reader continues, and its results replace those postings.
 *
 * <p>Several gaps with no entry between them form one region.
 */
final class GapRegion implements FrameListener {

    private final LogFileGeneration generation;
    private final ReassemblyLimits limits;
    private final StateWriter.Ids ids;
    private final LineReader reader;
    private final ArrayDeque<GapPiece> pieces = new ArrayDeque<>();
    private long from;
    private long to;
    private long retained;
    /** First lines after the region, which may end its last entry; null until an entry has followed. */
    private byte[] after;

    /** Creates a region that starts at the pending bytes of {@code reader}, or at its frontier if there are none. */
    GapRegion(
            LogFileGeneration generation, ReassemblyLimits limits, StateWriter.Ids ids, LineReader reader, long from) {
        this.generation = generation;
        this.limits = limits;
        this.ids = ids;
        this.reader = reader;
        this.from = from;
        this.to = from;
        reader.listen(this);
    }

    long from() {
        return from;
    }

    /**
     * Excludes a complete entry that the gap interrupted. The reader still contains it, and its reports of it are
     * ignored.
     */
    void startAfter(long entryTo) {
        while (!pieces.isEmpty()) {
            drop();
        }
        retained = 0;
        from = entryTo;
        to = entryTo;
    }

    /** Returns whether the reader has passed what was reported before this region. */
    boolean canHandOver() {
        return reader.format() != null && reader.accounted() >= from;
    }

    long to() {
        return to;
    }

    /** Returns the offset of the next byte that is needed. */
    long frontier() {
        return reader.frontier();
    }

    /** Returns whether a line at an offset is the next one. The byte before it may be the rest of a line end. */
    boolean continuesAt(long offset) {
        boolean restOfLineEnd = reader.endMayBeLonger() || isUntouched();
        return offset == reader.frontier() || (offset == reader.frontier() + 1 && restOfLineEnd);
    }

    private boolean isUntouched() {
        GapPiece next = pieceAt(reader.frontier());
        return next != null && next.postedFrom == reader.frontier() && generation.misses(reader.frontier());
    }

    /** Reads the byte at the frontier as the end of the previous line. */
    void readLineEnd(String hint) {
        if (reader.endMayBeLonger()) {
            reader.extendLastLine();
        } else {
            generation.forgetRangesOfGap(reader.frontier());
            reader.read(hint, new byte[] {'\n'}, 0, 1);
        }
    }

    /** Adds the next posting; {@code bytes} may be null. */
    void add(PostingKind kind, String detail, long pieceFrom, long pieceTo, EventId deadLetter, byte[] bytes) {
        GapPiece piece = new GapPiece(kind, detail, pieceFrom, pieceTo);
        piece.deadLetter = deadLetter;
        if (bytes != null && retained + bytes.length <= limits.edgeBytes()) {
            piece.bytes = bytes;
            retained += bytes.length;
        }
        pieces.add(piece);
        to = pieceTo;
    }

    /** Ends the region at the first entry after the gap; {@code firstLines} are its first whole lines. */
    void close(byte[] firstLines) {
        after = firstLines;
    }

    /** Returns the end of the bytes from the frontier that the region does not store itself. */
    long neededTo() {
        GapPiece needed = pieceAt(reader.frontier());
        return needed == null ? to : needed.postedTo;
    }

    /**
     * Reads lines at the frontier; returns whether the region is filled.
     *
     * @param exact whether the last line end is as in the file, so that no collector may have shortened it
     */
    boolean read(String hint, byte[] bytes, int start, int end, boolean exact) {
        if (generation.misses(reader.frontier())) {
            long gapTo = neededTo();
            reader.read(hint, bytes, start, end);
            if (!exact && reader.frontier() + 1 == gapTo && reader.endMayBeLonger()) {
                reader.extendLastLine();
            }
        } else {
            reader.readAgain(bytes, start, end);
        }
        return readRetained();
    }

    private boolean readRetained() {
        byte[] stored = storedAtFrontier();
        if (stored.length > 0) {
            reader.readAgain(stored, 0, stored.length);
        }
        return reader.frontier() >= to;
    }

    /**
     * Returns the stored bytes from the frontier on. A piece can end within a line, for example a record that a crash
     * cut. The line that contains the end of the region is complete, because framers read whole lines.
     */
    private byte[] storedAtFrontier() {
        ByteArrayOutputStream stored = new ByteArrayOutputStream();
        long offset = reader.frontier();
        boolean endsWithinLine = false;
        for (GapPiece next = pieceAt(offset); next != null && next.bytes != null; next = pieceAt(offset)) {
            int skipped = (int) (offset - next.postedFrom);
            stored.write(next.bytes, skipped, next.bytes.length - skipped);
            offset = next.postedTo;
            endsWithinLine = next.bytes[next.bytes.length - 1] != '\n';
        }
        if (endsWithinLine && offset == to && after != null) {
            stored.write(after, 0, LineHashes.end(after, 0, after.length));
        }
        return stored.toByteArray();
    }

    private GapPiece pieceAt(long offset) {
        for (GapPiece piece : pieces) {
            if (offset >= piece.postedFrom && offset < piece.postedTo) {
                return piece;
            }
        }
        return null;
    }

    /** Reports what is still pending in the filled region. */
    void finish() {
        int read = (int) (reader.frontier() - to);
        if (after != null && after.length > read) {
            reader.readAgain(after, read, after.length);
        }
        reader.end();
        replaceUntil(to);
    }

    /** Hands this region's reader over to the main reader, which replaces what was posted after the gap. */
    void handOver() {
        replaceUntil(to);
    }

    LineReader reader() {
        return reader;
    }

    void release() {
        reader.release();
        pieces.forEach(piece -> ids.release(piece.storedAs));
    }

    /** Reverses a posting of which a part has been replaced, and posts the rest. */
    void settle() {
        GapPiece first = pieces.peekFirst();
        if (first != null && first.from > first.postedFrom) {
            takeBack(first);
            drop();
            pieces.addFirst(postRest(first));
        }
    }

    private GapPiece postRest(GapPiece replaced) {
        byte[] bytes = restOfBytes(replaced);
        if (replaced.kind == PostingKind.DEAD_LETTER && bytes != null) {
            GapPiece rest = new GapPiece(replaced.kind, replaced.detail, replaced.from, replaced.postedTo);
            DeadLetterCode code = DeadLetterCode.valueOf(replaced.detail);
            rest.bytes = bytes;
            rest.deadLetter = generation.postDeadLetter(rest.from, bytes, code, "a part of a gap before it was filled");
            return rest;
        }
        // a dead letter needs its bytes: without them the rest is lost until it is shipped again
        boolean lost = replaced.kind == PostingKind.DEAD_LETTER;
        GapPiece rest = new GapPiece(
                lost ? PostingKind.GAP : replaced.kind,
                lost ? "lost" : replaced.detail,
                replaced.from,
                replaced.postedTo);
        rest.bytes = bytes;
        generation.postings().add(rest.kind, rest.detail, rest.from, rest.postedTo, 1);
        return rest;
    }

    /** Returns the stored bytes that were not replaced; null if they are not stored. */
    private byte[] restOfBytes(GapPiece piece) {
        if (piece.bytes == null) {
            return null;
        }
        int replaced = (int) (piece.from - piece.postedFrom);
        retained -= replaced;
        return Arrays.copyOfRange(piece.bytes, replaced, piece.bytes.length);
    }

    @Override
    public void entry(long entryFrom, long entryTo, EntryContext context) {
        if (entryFrom >= to || entryTo <= from) {
            return;
        }
        if (entryFrom < from) {
            rejected(
                    from,
                    Math.min(entryTo, to),
                    DeadLetterCode.INCOMPLETE,
                    "the entry began before the gap and was complete");
            return;
        }
        if (entryTo > to) {
            rejected(entryFrom, to, DeadLetterCode.INCOMPLETE, "the entry continues after the bytes that filled a gap");
            return;
        }
        replaceUntil(entryTo);
        generation.postEntry(reader, entryFrom, entryTo, context, true);
    }

    @Override
    public void framing(long framingFrom, long framingTo, FramingKind kind) {
        long start = Math.max(framingFrom, from);
        long end = Math.min(framingTo, to);
        if (start < end) {
            replaceUntil(end);
            generation.postings().add(PostingKind.FRAMING, kind.name(), start, end, 1);
        }
    }

    @Override
    public void rejected(long rejectedFrom, long rejectedTo, DeadLetterCode code, String message) {
        long start = Math.max(rejectedFrom, from);
        long end = Math.min(rejectedTo, to);
        if (start >= end || isUnchanged(start, end, code)) {
            return;
        }
        replaceUntil(end);
        generation.postDeadLetter(start, reader.copy(start, end), code, message);
    }

    /** Returns whether the same bytes were rejected for the same reason before: then that dead letter remains valid. */
    private boolean isUnchanged(long rejectedFrom, long rejectedTo, DeadLetterCode code) {
        GapPiece first = pieces.peekFirst();
        boolean same = first != null
                && first.kind == PostingKind.DEAD_LETTER
                && first.postedFrom == rejectedFrom
                && first.postedTo == rejectedTo
                && first.detail.equals(code.name());
        if (same) {
            drop();
        }
        return same;
    }

    /** Reverses what was posted before an offset. The rest of a piece is posted again by {@link #settle}. */
    private void replaceUntil(long offset) {
        for (GapPiece first = pieces.peekFirst(); first != null && first.from < offset; first = pieces.peekFirst()) {
            if (first.postedTo > offset) {
                first.from = offset;
                return;
            }
            takeBack(first);
            drop();
        }
    }

    private void takeBack(GapPiece piece) {
        generation.postings().reverse(piece.kind, piece.detail, piece.postedFrom, piece.postedTo);
        if (piece.deadLetter != null) {
            generation.supersede(piece.deadLetter, piece.postedFrom, piece.postedTo, piece.detail);
        }
    }

    private void drop() {
        GapPiece first = pieces.pollFirst();
        ids.release(first.storedAs);
    }

    void save(StateWriter out) {
        out.number(from);
        out.number(to);
        out.number(retained);
        out.bytes(after);
        reader.save(out);
        out.number(pieces.size());
        pieces.forEach(piece -> piece.save(out));
    }

    static GapRegion restore(
            LogFileGeneration generation,
            ReassemblyLimits limits,
            StateWriter.Ids ids,
            LineReader reader,
            StateReader in) {
        GapRegion region = new GapRegion(generation, limits, ids, reader, in.number());
        region.to = in.number();
        region.retained = in.number();
        region.after = in.bytes();
        reader.restore(in);
        for (int count = in.count(); count > 0; count--) {
            region.pieces.add(GapPiece.restore(in));
        }
        return region;
    }
}
