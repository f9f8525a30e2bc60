package io.tailrace.fingerprint;

/**
 * What a server's {@code sql_mode} changes in the reading of quotes. No log says it, so the default is the server's own.
 *
 * @param ansiQuotes ANSI_QUOTES: double quotes enclose names, not strings
 * @param noBackslashEscapes NO_BACKSLASH_ESCAPES: a backslash in a string is a character like any other
 */
public record SqlMode(boolean ansiQuotes, boolean noBackslashEscapes) {

    /** Neither is set. */
    public static final SqlMode DEFAULT = new SqlMode(false, false);
}
