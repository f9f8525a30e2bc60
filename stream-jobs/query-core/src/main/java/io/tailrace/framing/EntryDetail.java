package io.tailrace.framing;

/** How much of an entry a parser reads into its event. */
public enum EntryDetail {
    /** Everything. */
    FULL,
    /**
     * Only what statistics need. The parser may omit what costs time: the event's id, the execution plan, and
     * attributes that do not describe how the log was sampled.
     */
    STATISTICS
}
