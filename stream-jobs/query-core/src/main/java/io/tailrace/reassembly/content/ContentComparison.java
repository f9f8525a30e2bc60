package io.tailrace.reassembly.content;

/**
 * Compares repeated lines with what a generation read at their offsets. Lines without a stored hash are compared by
 * segment: they agree if the whole segment does.
 */
public final class ContentComparison {

    /** Length from which an equal line is significant: empty lines and single semicolons occur everywhere. */
    private static final int DISTINCTIVE_BYTES = 4;

    private final ContentHashes hashes;
    private final long frontier;
    private final long distinctiveFrom;
    private final boolean fromStart;
    private boolean differs;
    private boolean distinctive;
    private long agreedTo;
    private ContentHashes.Segment partSegment;
    private long partHash;
    private boolean partWhole;

    /**
     *
     * @param from offset of the first repeated line
     * @param frontier offset up to which the generation was read
     * @param entryEnd end of the generation's first entry: two files may begin with the same banner, but not with the
     *     same banner and entry
     * @param adjoins whether the line before the first one is known to be the same
     */
    public ContentComparison(ContentHashes hashes, long from, long frontier, long entryEnd, boolean adjoins) {
        this.hashes = hashes;
        this.frontier = frontier;
        this.fromStart = from == 0;
        this.distinctiveFrom = entryEnd;
        this.agreedTo = from;
        this.distinctive = adjoins;
    }

    /** Returns whether a line differs from the one that was read at its offset. */
    public boolean differs() {
        return differs;
    }

    /** Returns whether lines agree that no other file contains at their offsets. */
    public boolean distinctive() {
        return distinctive && !differs;
    }

    /** Returns the end of the lines that agree or were never read. */
    public long agreedTo() {
        return agreedTo;
    }

    /** Compares a line and returns whether to continue. {@code base} is the file offset of {@code bytes[0]}. */
    public boolean line(long base, byte[] bytes, int from, int to) {
        long offset = base + from;
        if (offset >= frontier) {
            return false;
        }
        ContentHashes.Segment segment = hashes.at(offset);
        if (segment == null) {
            return unread(base + to);
        }
        int contentEnd = LineHashes.contentEnd(bytes, from, to);
        long hash = LineHashes.hash(bytes, from, contentEnd);
        if (segment.knowsLines()) {
            return known(segment, offset, hash, base + to, contentEnd - from);
        }
        return partOf(segment, offset, hash, base + to);
    }

    /** Handles a line in a hole, for which there is nothing to compare. */
    private boolean unread(long end) {
        if (partSegment == null) {
            agreedTo = end;
        }
        return true;
    }

    private boolean known(ContentHashes.Segment segment, long offset, long hash, long end, int contentLength) {
        if (!segment.holdsLine(offset, hash)) {
            // an empty line whose offset was assumed to be the second byte of a line end
            boolean lineEnd = contentLength == 0 && segment.endsLineAt(offset + 1);
            differs = !lineEnd;
            return lineEnd;
        }
        partSegment = null;
        agreedTo = end;
        distinctive |= end >= distinctiveFrom && (fromStart || contentLength >= DISTINCTIVE_BYTES);
        return true;
    }

    private boolean partOf(ContentHashes.Segment segment, long offset, long hash, long end) {
        if (partSegment == null || partSegment.from() != segment.from()) {
            partHash = 0;
            // for lines that start within the segment, only the following lines can prove equality
            partWhole = offset == segment.from();
        }
        partSegment = segment;
        partHash = LineHashes.join(partHash, hash);
        boolean lineEndShortened = end == segment.to() - 1 && partWhole && partHash == segment.hash();
        return (end < segment.to() && !lineEndShortened) || endOf(segment, end);
    }

    private boolean endOf(ContentHashes.Segment segment, long end) {
        boolean straddles = end > segment.to() + 1;
        if (straddles || (partWhole && partHash != segment.hash())) {
            differs = true;
            return false;
        }
        if (partWhole) {
            partSegment = null;
        }
        if (partWhole || distinctive) {
            distinctive = true;
            agreedTo = end;
        }
        return true;
    }
}
