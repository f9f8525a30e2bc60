package io.tailrace.audit.record;

/** How reading a record ended. */
public enum RecordResult {
    WHOLE,
    /** The bytes end before the record does. */
    CUT,
    MALFORMED
}
