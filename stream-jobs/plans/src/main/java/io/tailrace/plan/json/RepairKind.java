package io.tailrace.plan.json;

/** In which way a document was not JSON, and was read nevertheless. */
public enum RepairKind {
    /** A comment: MySQL's {@code end_markers_in_json} writes the name of what ends after each bracket. */
    COMMENT,
    /** A double quote within a string: MariaDB up to 11 does not escape those of a condition's literals. */
    UNESCAPED_QUOTE,
    /** A backslash before what JSON does not escape, such as MariaDB's {@code \xDF}; it stays. */
    INVALID_ESCAPE,
    /** A control character that should be escaped; it stays. */
    CONTROL_CHARACTER,
    /** Bytes that are not UTF-8; each stands as U+FFFD. */
    INVALID_UTF8,
    /** A value that is neither a string nor a number nor a word of JSON; it is taken for a string. */
    BARE_WORD,
    /** A comma, colon or bracket is missing or stands where none may. */
    PUNCTUATION,
    /** The document ends before its brackets are closed. */
    TRUNCATED,
    /** Nested deeper than {@link JsonReader#MAX_DEPTH} levels: what lies below was left out. */
    TOO_DEEP
}
