package io.tailrace.pseudonym;

import java.util.Locale;

/** What a name is about. Equal names of two kinds have different pseudonyms. */
public enum SubjectKind {
    /** A user of a database, a proxy or an operating system. */
    USER,
    /** The address or the host name of a client. */
    CLIENT;

    /** Returns the word in pseudonyms and in the vault: {@code user} or {@code client}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
