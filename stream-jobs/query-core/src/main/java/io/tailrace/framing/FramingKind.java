package io.tailrace.framing;

/** Reasons why bytes of a log file belong to no entry. The list is complete. */
public enum FramingKind {
    /** The server's start banner: version, port, column headings. */
    BANNER,
    /** Empty lines, or white space only. */
    BLANK,
    /** Opening, separators or closing of the document that contains the entries. */
    DOCUMENT
}
