package io.tailrace.audit.record;

import java.nio.ByteBuffer;

/** Finds where the records of one kind of document start and end, within whole lines. Its state is a few bytes. */
public interface RecordScanner {

    /** What stands between records. */
    enum Found {
        RECORD,
        DOCUMENT,
        BLANK,
        STRAY
    }

    /** How {@link #inside} ended. */
    enum Ended {
        RECORD,
        NOT_YET,
        BROKEN_OFF
    }

    /**
     * Judges the bytes from {@code at} on, which lie in no record; {@link #next()} is the index after what it found.
     *
     * @param lineFrom index of the line's first byte
     * @param searching nothing sure was read before: what could also stand within a record is no document
     */
    Found outside(byte[] buffer, int lineFrom, int at, int to, boolean searching);

    /**
     * Reads on in a record; {@link #next()} is the index after it, or the index where another one breaks it off. The
     * line's end is {@code to}.
     */
    Ended inside(byte[] buffer, int lineFrom, int at, int to);

    /** Index after what the latest call read. */
    int next();

    /** The document's bytes are lost from here on. */
    void reset();

    /** Bytes that {@link #save} writes. */
    int stateBytes();

    void save(ByteBuffer out);

    void restore(ByteBuffer in);
}
