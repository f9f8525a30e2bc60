package io.tailrace.audit;

/** How reading a record ended. */
enum Reading {
    WHOLE,
    /** The bytes end before the record does. */
    CUT,
    MALFORMED
}
