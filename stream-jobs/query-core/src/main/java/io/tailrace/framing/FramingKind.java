package io.tailrace.framing;

/** Why bytes of a log file belong to no entry: the whole list. */
public enum FramingKind {
    /** The server's start banner: version, port, column heads. */
    BANNER,
    /** Empty lines, or white space only. */
    BLANK,
    /** Opening, separators or closing of a document that holds the entries. */
    DOCUMENT
}
