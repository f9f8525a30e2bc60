package io.tailrace.framing;

/**
 * Receives the results of a framer. Offsets are file offsets, {@code to} is exclusive, and every byte is reported
 * exactly once.
 */
public interface FrameListener {

    /** Receives a complete entry and what earlier entries of the file state about it. */
    void entry(long from, long to, EntryContext context);

    /** Receives bytes that belong to no entry according to the format. */
    void framing(long from, long to, FramingKind kind);

    /** Receives bytes that should have been an entry and are not. The message contains no bytes of the log. */
    void rejected(long from, long to, DeadLetterCode code, String message);
}
