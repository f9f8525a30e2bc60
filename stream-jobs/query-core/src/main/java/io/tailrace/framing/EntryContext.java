package io.tailrace.framing;

/**
 * What a log says once and means for later entries too, and what the framer noticed about the entry.
 *
 * @param database last {@code use db} of the file, or of the entry's connection, as raw ISO-8859-1 characters of its
 *     bytes; empty when unknown
 * @param timeLine last time header of the file, the same way; empty when unknown
 * @param account {@code user@host} of the entry's connection, the same way; empty when unknown
 * @param loggedIn the entry is the first of its connection since a login of which the log does not say what came of it: the
 *     server took it
 * @param forgedHeader a header stands inside a literal or comment of the entry
 * @param ambiguous the log alone cannot prove where the entry ends
 */
public record EntryContext(
        String database, String timeLine, String account, boolean loggedIn, boolean forgedHeader, boolean ambiguous) {

    public static final EntryContext NONE = new EntryContext("", "", false, false);

    /** The context of a log whose entries say themselves who their connection is. */
    public EntryContext(String database, String timeLine, boolean forgedHeader, boolean ambiguous) {
        this(database, timeLine, "", false, forgedHeader, ambiguous);
    }
}
