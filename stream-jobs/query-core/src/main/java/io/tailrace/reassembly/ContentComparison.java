package io.tailrace.reassembly;

/**
 * Compares lines that came again with what a generation read at their offsets. Lines of which no hash of
 * their own is kept are compared by segments: they agree once a whole segment does.
 */
final class ContentComparison {

    /** An equal line shorter than this proves little: empty lines and lone semicolons are everywhere. */
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
     * @param from offset of the first line that came again
     * @param frontier how far the generation was read
     * @param entryEnd end of the generation's first entry: two files may begin with the same banner, but not
     *     with the same banner and entry
     * @param adjoins the line before the first one is known to be the same
     */
    ContentComparison(ContentHashes hashes, long from, long frontier, long entryEnd, boolean adjoins) {
        this.hashes = hashes;
        this.frontier = frontier;
        this.fromStart = from == 0;
        this.distinctiveFrom = entryEnd;
        this.agreedTo = from;
        this.distinctive = adjoins;
    }

    /** Some line is another than the one that was read there. */
    boolean differs() {
        return differs;
    }

    /** Lines agree that no other file holds at their offsets. */
    boolean distinctive() {
        return distinctive && !differs;
    }

    /** End of the lines that agree or were never read. */
    long agreedTo() {
        return agreedTo;
    }

    /** Compares a line; whether to go on. {@code base} is the file offset of {@code bytes[0]}. */
    boolean line(long base, byte[] bytes, int from, int to) {
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

    /** In a hole: nothing to compare with. */
    private boolean unread(long end) {
        if (partSegment == null) {
            agreedTo = end;
        }
        return true;
    }

    private boolean known(ContentHashes.Segment segment, long offset, long hash, long end, int contentLength) {
        if (!segment.holdsLine(offset, hash)) {
            // an empty line whose place was taken for the second byte of a line end
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
        if (partSegment != segment) {
            partHash = 0;
            // what starts within the segment can only be proved by what follows
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
