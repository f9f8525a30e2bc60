package io.tailrace.lexer;

/**
 * Finds the end of literals and quoted names in a text that contains the whole statement; {@link StatementScanner} reads
 * one that arrives line by line. Not thread-safe.
 */
public final class QuotedText {

    private boolean closed;
    private boolean escaped;
    private boolean quotes;

    /**
     * Returns the index after the closing quote, or {@code to} if there is none. A doubled quote belongs to the text.
     *
     * @param from index of the first quote
     * @param backslashEscapes false for names and for NO_BACKSLASH_ESCAPES
     */
    public int end(byte[] bytes, int from, int to, boolean backslashEscapes) {
        byte quote = bytes[from];
        byte escape = backslashEscapes ? (byte) '\\' : quote;
        boolean hasEscape = false;
        boolean hasQuote = false;
        int i = ByteText.firstOf(bytes, from + 1, to, quote, escape);
        while (i < to) {
            boolean single = bytes[i] == quote && (i + 1 == to || bytes[i + 1] != quote);
            if (single) {
                closed = true;
                escaped = hasEscape;
                quotes = hasQuote;
                return i + 1;
            }
            hasEscape |= bytes[i] != quote;
            hasQuote |= i + 1 < to && bytes[i + 1] == quote;
            i = i + 2 < to ? ByteText.firstOf(bytes, i + 2, to, quote, escape) : to;
        }
        closed = false;
        escaped = hasEscape;
        quotes = hasQuote;
        return to;
    }

    /** Returns whether the text of the latest call of {@link #end} has a closing quote. */
    public boolean isClosed() {
        return closed;
    }

    /** Returns whether the text of the latest call of {@link #end} contains a backslash that escapes. */
    public boolean isEscaped() {
        return escaped;
    }

    /** Returns whether the text of the latest call of {@link #end} contains the quotation mark that encloses it. */
    public boolean hasQuotes() {
        return quotes;
    }
}
