package io.tailrace.framing;

/** How much of an entry a parser reads into its event. */
public enum EntryDetail {
    /** All of it. */
    FULL,
    /**
     * What statistics are made of. The rest may be left out where it costs time: the event's id, the plan that a
     * server explains, and attributes that say nothing of how the log was sampled.
     */
    STATISTICS
}
