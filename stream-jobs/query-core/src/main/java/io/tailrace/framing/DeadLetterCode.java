package io.tailrace.framing;

/**
 * Reasons why bytes did not become an event. The names are metric labels and are stored, so they never change. The state
 * of framers contains the ordinals: append new codes at the end.
 */
public enum DeadLetterCode {
    /** The file ended, or a hole began, within an entry. */
    INCOMPLETE,
    /** Lines before the first certain start of an entry, at the start of a file or after a hole. */
    NO_ENTRY_START,
    /** Lines that follow an entry and do not start another one. */
    STRAY_TEXT,
    /** A literal or comment that never ends; reading resynchronized at a later header. */
    UNTERMINATED_LITERAL,
    /** An entry larger than the limit. */
    ENTRY_TOO_LARGE,
    /** A header field is missing or cannot be parsed, in a log whose entries have a header before the text. */
    MALFORMED_HEADER,
    /** A record of named fields or columns does not conform to its format. */
    MALFORMED_RECORD,
    /** No format matches the file. */
    UNKNOWN_FORMAT,
    /** The entry's time is older than the retention, or in the future. */
    TIME_OUT_OF_RANGE,
    /** Bytes differ from those that were read before at the same offset. */
    OFFSET_CONFLICT,
    /** A message from the collector that contains no line. */
    MALFORMED_MESSAGE,
    /** ClickHouse rejected the block that contains the row. */
    REFUSED_BY_STORE
}
