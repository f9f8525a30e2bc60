package io.tailrace.framing;

/** What a framer found. Offsets are file offsets, {@code to} exclusive; every byte is reported exactly once. */
public interface FrameListener {

    /** A complete entry, with what earlier entries of the file say about it. */
    void entry(long from, long to, EntryContext context);

    /** Bytes that belong to no entry by the format's own rules. */
    void framing(long from, long to, FramingKind kind);

    /** Bytes that are no entry and should have been one. The message holds no bytes of the log. */
    void rejected(long from, long to, DeadLetterCode code, String message);
}
