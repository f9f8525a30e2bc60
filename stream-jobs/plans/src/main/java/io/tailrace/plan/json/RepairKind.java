package io.tailrace.plan.json;

/** The kinds of deviation from JSON that the reader repairs. */
public enum RepairKind {
    /** A comment: MySQL's {@code end_markers_in_json} writes a name after each closing bracket. */
    COMMENT,
    /** A double quote within a string: MariaDB up to 11 does not escape those of a condition's literals. */
    UNESCAPED_QUOTE,
    /** A backslash before a character that JSON does not escape, such as MariaDB's {@code \xDF}; it is kept. */
    INVALID_ESCAPE,
    /** A control character that should be escaped; it is kept. */
    CONTROL_CHARACTER,
    /** Bytes that are not UTF-8; each is replaced by U+FFFD. */
    INVALID_UTF8,
    /** A value that is neither a string nor a number nor a word of JSON; it is read as a string. */
    BARE_WORD,
    /** A comma, colon or bracket is missing or misplaced. */
    PUNCTUATION,
    /** The document ends before its brackets are closed. */
    TRUNCATED,
    /** Nested deeper than {@link JsonReader#MAX_DEPTH} levels; deeper values are omitted. */
    TOO_DEEP
}
