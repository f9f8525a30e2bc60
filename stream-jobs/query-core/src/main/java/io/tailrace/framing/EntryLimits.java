package io.tailrace.framing;

/** Limits that {@link EntryFramer} prescribes for every format, so that no log makes a caller keep more bytes. */
public final class EntryLimits {

    /** Length of the longest entry, bytes. A longer one is rejected as {@link DeadLetterCode#ENTRY_TOO_LARGE}. */
    public static final int MAX_ENTRY_LENGTH = 64 << 20;

    /** Length at which consecutive lines that belong to no entry are rejected, although more may follow; bytes. */
    public static final int MAX_REJECTION_LENGTH = 1 << 20;

    private EntryLimits() {}
}
