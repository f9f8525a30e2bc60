package io.tailrace.framing;

/** Makes an event of an entry. Never throws for bad input: it rejects. Not thread-safe. */
public interface EntryParser {

    /** Reads one entry; calls {@code out} exactly once. The entry's arrays must not be kept. */
    void parse(LogEntry entry, ParseListener out);
}
