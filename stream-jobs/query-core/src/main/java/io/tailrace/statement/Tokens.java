package io.tailrace.statement;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlBytes;
import java.util.Locale;

/**
 * Cuts a masked statement into tokens: words, quoted names and single symbols. The marks of executable comments are
 * skipped, for what they hold is code. The token at hand is in {@link #kind}, {@link #word} and {@link #symbol}.
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
    /** The keyword at hand; {@link StatementKeyword#OTHER} for anything else, and for a word that only a name can be. */
    StatementKeyword word;
    /** The symbol at hand, or 0. */
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

    /** Forgets the text. */
    void release() {
        bytes = null;
    }

    /** Goes to the next token. */
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
        int i = next;
        while (i < to && SqlBytes.isWord(bytes[i])) {
            i++;
        }
        next = i;
        word = nameOnly ? StatementKeyword.OTHER : StatementKeyword.of(bytes, from, next);
    }

    /** A doubled quote belongs to the name. */
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
            } else if (b == '/' && next + 1 < to && bytes[next + 1] == '*') {
                next = afterMark(next + 2);
            } else if (b == '*' && next + 1 < to && bytes[next + 1] == '/') {
                next += 2;
            } else {
                return;
            }
        }
    }

    /** After {@code /*!50001} as it is masked, or after the whole comment that marks a repeated union. */
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

    /** The token at hand may be a name: a quoted one, or a word. */
    boolean atName() {
        return kind == Kind.WORD || kind == Kind.QUOTED;
    }

    /** Nothing follows the token at hand: in a text that was cut, it may be cut too. */
    boolean isLast() {
        return next >= to;
    }

    /** The symbol right behind the token at hand, blanks apart; 0 for anything else. */
    byte following() {
        int i = ByteText.skipBlanks(bytes, next, to);
        return i < to && !SqlBytes.isWord(bytes[i]) ? bytes[i] : 0;
    }

    /** Nothing stands between the token at hand and the one before it. */
    boolean isGlued() {
        return from > 0 && from == previousTo;
    }

    /** Goes on where the token at hand is one of these words. */
    boolean skip(StatementKeyword... words) {
        for (StatementKeyword skipped : words) {
            if (word == skipped) {
                advance();
                return true;
            }
        }
        return false;
    }

    /** The name at hand without its quotes; empty where it is longer than any name of a table. */
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
