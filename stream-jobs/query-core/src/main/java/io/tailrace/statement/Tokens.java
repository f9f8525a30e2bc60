package io.tailrace.statement;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlBytes;
import java.util.Locale;

/**
 * Splits a masked statement into tokens: words, quoted names and single symbols. The delimiters of executable
 * comments are skipped, because their content is code. The current token is in {@link #kind}, {@link #word} and
 * {@link #symbol}.
 */
final class Tokens {

    enum Kind {
        WORD,
        QUOTED,
        SYMBOL,
        END
    }

    /** Longest name of a database or table, bytes: MySQL allows 64 characters. */
    private static final int MAX_NAME_LENGTH = 256;

    private byte[] bytes;
    private int to;
    private int next;
    private int from;
    private int previousTo;

    Kind kind;
    /**
     * The current keyword; {@link StatementKeyword#OTHER} for any other token, and for a word that can only be a
     * name.
     */
    StatementKeyword word;
    /** The current symbol, or 0. */
    byte symbol;

    /** Starts before the first token of {@code text[0, length)}. */
    void start(byte[] text, int length) {
        bytes = text;
        to = length;
        next = 0;
        from = 0;
        kind = Kind.SYMBOL;
        word = StatementKeyword.OTHER;
        symbol = 0;
    }

    /** Releases the text. */
    void release() {
        bytes = null;
    }

    /** Moves to the next token. */
    void advance() {
        boolean nameOnly = symbol == '.' || symbol == '@';
        previousTo = next;
        skipBlanksAndMarks();
        from = next;
        word = StatementKeyword.OTHER;
        symbol = 0;
        if (next >= to) {
            kind = Kind.END;
            return;
        }
        byte b = bytes[next];
        if (SqlBytes.isWord(b)) {
            word(nameOnly);
        } else if (b == '`' || b == '"') {
            quoted(b);
        } else {
            kind = Kind.SYMBOL;
            symbol = b;
            next++;
        }
    }

    private void word(boolean nameOnly) {
        kind = Kind.WORD;
        next = SqlBytes.wordEnd(bytes, next, to);
        word = nameOnly ? StatementKeyword.OTHER : StatementKeyword.of(bytes, from, next);
    }

    /** Reads a quoted name; a doubled quote belongs to it. */
    private void quoted(byte quote) {
        kind = Kind.QUOTED;
        int i = next + 1;
        while (i < to && (bytes[i] != quote || i + 1 < to && bytes[i + 1] == quote)) {
            i += bytes[i] == quote ? 2 : 1;
        }
        next = Math.min(i + 1, to);
    }

    private void skipBlanksAndMarks() {
        while (next < to) {
            byte b = bytes[next];
            if (b == ' ') {
                next++;
            } else if (SqlBytes.startsBlockComment(bytes, next, to)) {
                next = afterMark(next + 2);
            } else if (b == '*' && next + 1 < to && bytes[next + 1] == '/') {
                next += 2;
            } else {
                return;
            }
        }
    }

    /** Returns the index after a masked {@code /*!50001}, or after the whole comment that marks a repeated union. */
    private int afterMark(int content) {
        int mark = content < to && ByteText.lower(bytes[content]) == 'm' ? content + 1 : content;
        if (mark < to && bytes[mark] == '!') {
            return mark + 1 < to && bytes[mark + 1] == '?' ? mark + 2 : mark + 1;
        }
        int end = content;
        while (end < to && (bytes[end] != '/' || bytes[end - 1] != '*')) {
            end++;
        }
        return Math.min(end + 1, to);
    }

    boolean at(char wanted) {
        return symbol == wanted;
    }

    boolean atEnd() {
        return kind == Kind.END;
    }

    /** Returns whether the current token may be a name: a quoted one, or a word. */
    boolean atName() {
        return kind == Kind.WORD || kind == Kind.QUOTED;
    }

    /** Returns whether the current token is the last one: if the text was cut, it may be incomplete. */
    boolean isLast() {
        return next >= to;
    }

    /** Returns the symbol after the current token, ignoring blanks; 0 if something else follows. */
    byte following() {
        int i = ByteText.skipBlanks(bytes, next, to);
        return i < to && !SqlBytes.isWord(bytes[i]) ? bytes[i] : 0;
    }

    /** Returns whether nothing separates the current token from the previous one. */
    boolean isGlued() {
        return from > 0 && from == previousTo;
    }

    /** Skips the current token if it is one of these words, and returns whether it was. */
    boolean skip(StatementKeyword... words) {
        for (StatementKeyword skipped : words) {
            if (word == skipped) {
                advance();
                return true;
            }
        }
        return false;
    }

    /** Returns the current name without its quotes; empty if it is longer than any name of a table. */
    String name() {
        if (next - from > MAX_NAME_LENGTH) {
            return "";
        }
        if (kind == Kind.WORD) {
            return ByteText.utf8(bytes, from, next);
        }
        String quote = Character.toString(bytes[from]);
        String content = ByteText.utf8(bytes, from + 1, Math.max(from + 1, next - 1));
        return content.replace(quote + quote, quote);
    }

    String upperCase() {
        return name().toUpperCase(Locale.ROOT);
    }
}
