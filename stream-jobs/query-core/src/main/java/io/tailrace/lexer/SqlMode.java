package io.tailrace.lexer;

/**
 * The parts of a server's {@code sql_mode} that affect quotes. No log contains it, so the server's default is
 * assumed.
 *
 * @param ansiQuotes ANSI_QUOTES: double quotes enclose names, not strings
 * @param noBackslashEscapes NO_BACKSLASH_ESCAPES: a backslash in a string is an ordinary character
 */
public record SqlMode(boolean ansiQuotes, boolean noBackslashEscapes) {

    /** Neither is set. */
    public static final SqlMode DEFAULT = new SqlMode(false, false);

    /**
     * Returns whether a backslash escapes the next character of a text that begins with this quote.
     *
     * @param quote a single quote, double quote or backtick; one that begins a name has no escapes
     */
    public boolean backslashEscapes(byte quote) {
        return !noBackslashEscapes && (quote == '\'' || quote == '"' && !ansiQuotes);
    }
}
