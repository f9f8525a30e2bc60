package io.tailrace.audit.record;

/** The result of reading a record. */
public enum RecordResult {
    WHOLE,
    /** The bytes end before the record does. */
    CUT,
    MALFORMED
}
