package io.tailrace.slowlog;

import java.nio.ByteBuffer;

/** Headers within a literal that fit the log. Each is evidence (a proof) that the literal was never closed. */
final class UnterminatedLiteralEvidence {

    /** Number of headers that are sufficient. */
    static final int ENOUGH = 3;

    private final AlternativeReading laterEntries = new AlternativeReading();
    private final long[] from = new long[ENOUGH];
    private int count;
    /** Bit i is set if the line before proof i ends with a semicolon. */
    private int afterSemicolon;

    void clear() {
        count = 0;
        afterSemicolon = 0;
        laterEntries.clear();
    }

    int count() {
        return count;
    }

    boolean isEmpty() {
        return count == 0;
    }

    boolean areEnough() {
        return count == ENOUGH;
    }

    /** Returns the file offset of a proof's first line. */
    long from(int proof) {
        return from[proof];
    }

    /** Returns whether the text before the proof ends like an entry, with the server's semicolon and line end. */
    boolean endsEntry(int proof) {
        return (afterSemicolon & 1 << proof) != 0;
    }

    /**
     * Returns whether, if the literal was never closed, an entry ends with the latest line and another one before the
     * first proof.
     */
    boolean endEntryHere() {
        return laterEntries.isBetween() && endsEntry(0);
    }

    /** Adds the header whose statement starts with this line. */
    void add(HeaderGroup header, SlowLogLine line, byte[] bytes, int lineFrom, int lineTo) {
        afterSemicolon |= header.afterSemicolon ? 1 << count : 0;
        from[count++] = header.from;
        if (!laterEntries.isRead()) {
            laterEntries.start(line, bytes, lineFrom, lineTo);
        }
    }

    /** Reads the next line; returns true if it refutes all proofs. */
    boolean areRefutedBy(SlowLogLine line, byte[] bytes, int lineFrom, int lineTo) {
        boolean refuted = laterEntries.isRead() && !laterEntries.line(line, bytes, lineFrom, lineTo);
        if (refuted) {
            clear();
        }
        return refuted;
    }

    void write(ByteBuffer out) {
        out.put((byte) count).put((byte) afterSemicolon).putLong(laterEntries.state());
        for (long proof : from) {
            out.putLong(proof);
        }
    }

    void read(ByteBuffer in) {
        count = in.get();
        afterSemicolon = in.get();
        laterEntries.restore(in.getLong());
        for (int i = 0; i < ENOUGH; i++) {
            from[i] = in.getLong();
        }
    }
}
