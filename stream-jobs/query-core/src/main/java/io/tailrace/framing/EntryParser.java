package io.tailrace.framing;

/** Converts entries into events. Bad input is rejected and never causes an exception. Not thread-safe. */
public interface EntryParser {

    /**
     * Reads one entry and calls {@code out} exactly once. The implementation must not keep references to the entry's
     * arrays.
     */
    void parse(LogEntry entry, ParseListener out);
}
