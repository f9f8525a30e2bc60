package io.tailrace.audit.record;

import java.nio.ByteBuffer;

/** Finds the starts and ends of the records of one kind of document, within whole lines. Its state has a few bytes. */
public interface RecordScanner {

    /** The result of {@link #outside}. */
    enum Found {
        RECORD,
        DOCUMENT,
        BLANK,
        STRAY
    }

    /** The result of {@link #inside}. */
    enum Ended {
        RECORD,
        NOT_YET,
        BROKEN_OFF
    }

    /**
     * Classifies the bytes from {@code at} on, which are outside of records; {@link #next()} is the index after what
     * was found. The state of the previous record, which may not have ended, has no effect. {@link #inside} continues at
     * {@link #next()}, so after the start of a record this index is behind that start, or {@code inside} skips it.
     *
     * @param lineFrom index of the line's first byte
     * @param searching nothing certain was read before: what could also be part of a record does not count as part of
     *     the document
     */
    Found outside(byte[] buffer, int lineFrom, int at, int to, boolean searching);

    /**
     * Continues a record; {@link #next()} is the index after it, or the index where another one interrupts it. The
     * line ends at {@code to}.
     */
    Ended inside(byte[] buffer, int lineFrom, int at, int to);

    /** Returns the index after what the latest call read. */
    int next();

    /** Returns the number of bytes that {@link #save} writes. */
    int stateBytes();

    /**
     * Writes the state, in the middle of the framer's snapshot. The first byte of a new scanner's state is the version
     * of its layout: docs/STATE.md.
     */
    void save(ByteBuffer out);

    void restore(ByteBuffer in);
}
