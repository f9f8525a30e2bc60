package io.tailrace.framing;

/**
 * Why bytes did not become an event. Names are metric labels and stored: never renamed. State of framers contains the
 * numbers of codes: a new code is the last one.
 */
public enum DeadLetterCode {
    /** The file ended, or a hole followed, within an entry. */
    INCOMPLETE,
    /** Lines before the first sure start of an entry, at the start of a file or after a hole. */
    NO_ENTRY_START,
    /** Lines that follow an entry and start none. */
    STRAY_TEXT,
    /** A literal or comment that never ends; reading resynchronised at a later header. */
    UNTERMINATED_LITERAL,
    /** An entry larger than the limit. */
    ENTRY_TOO_LARGE,
    /** A header field that is missing or cannot be read. */
    MALFORMED_HEADER,
    /** A record that is not of its format. */
    MALFORMED_RECORD,
    /** No format fits the file. */
    UNKNOWN_FORMAT,
    /** The entry's time is before the retention or in the future. */
    TIME_OUT_OF_RANGE,
    /** Bytes at an offset that was read before, and they differ from what was read. */
    OFFSET_CONFLICT,
    /** A message from the collector that is no line. */
    MALFORMED_MESSAGE,
    /** ClickHouse refuses the block that holds the row. */
    REFUSED_BY_STORE
}
