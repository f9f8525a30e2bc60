package io.tailrace.framing;

/**
 * State that a log writes once and that applies to later entries, and what the framer noticed about the entry. Texts
 * are the raw bytes of the log as ISO-8859-1 characters.
 *
 * @param database last {@code use db} of the file or of the entry's connection; empty if unknown
 * @param timeLine last time header of the file; empty if unknown
 * @param account {@code user@host} of the entry's connection; empty if unknown
 * @param loggedIn whether the entry is the first of its connection since a login whose outcome the log does not
 *     state; this entry proves that the login succeeded
 * @param forgedHeader whether a literal or comment of the entry contains a header
 * @param ambiguous whether the log alone cannot prove where the entry ends
 */
public record EntryContext(
        String database, String timeLine, String account, boolean loggedIn, boolean forgedHeader, boolean ambiguous) {

    public static final EntryContext NONE = new EntryContext("", "", false, false);

    /** Creates the context of a log whose entries identify their connections themselves. */
    public EntryContext(String database, String timeLine, boolean forgedHeader, boolean ambiguous) {
        this(database, timeLine, "", false, forgedHeader, ambiguous);
    }
}
