package io.tailrace.fingerprint.mask;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.NoBreakSpace;
import io.tailrace.lexer.QuotedText;
import io.tailrace.lexer.SqlMode;
import io.tailrace.lexer.WordTable;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds where literals begin and end, and records whether their ends are certain. Not thread-safe. */
final class LiteralReader {

    // spotless:off
    private static final WordTable<Boolean> AFTER_LITERAL = words(
            "and", "or", "xor", "as", "from", "where", "having", "group", "order", "limit", "union", "then", "else",
            "when", "end", "in", "is", "like", "rlike", "regexp", "not", "between", "collate", "separator", "escape",
            "on", "using", "into", "for", "asc", "desc", "div", "mod", "with", "set", "values", "identified");
    // spotless:on
    private static final int MAX_KEYWORD_LENGTH = 10;

    private static final byte[] NULL = ByteText.ascii("null");
    private static final byte[] TRUE = ByteText.ascii("true");
    private static final byte[] FALSE = ByteText.ascii("false");

    private static WordTable<Boolean> words(String... words) {
        return WordTable.ofAnyCase(Stream.of(words).collect(Collectors.toMap(word -> word, word -> true)));
    }

    private final SqlMode mode;
    private final QuotedText quotedText = new QuotedText();
    /** The statement ends within a literal or quoted name, or a literal seems to end within a word. */
    private boolean doubtful;
    /** A literal contains a backslash, so its end depends on the server's mode. */
    private boolean backslashes;
    /** A literal contains the quotation mark that encloses it. */
    private boolean quotes;
    /** A tag of dollar quotes was a name. Later tags are not searched for, because the time would be quadratic. */
    private boolean tagsEnd;

    LiteralReader(SqlMode mode) {
        this.mode = mode;
    }

    void reset() {
        clearDoubts();
        backslashes = false;
        quotes = false;
        tagsEnd = false;
    }

    void clearDoubts() {
        doubtful = false;
    }

    /** Records that the end of a literal is uncertain, if it is. */
    void doubtIf(boolean condition) {
        doubtful |= condition;
    }

    boolean isDoubtful() {
        return doubtful;
    }

    boolean hasBackslashes() {
        return backslashes;
    }

    boolean hasQuotes() {
        return quotes;
    }

    /** Returns the index after a literal, or the end if it never ends. */
    int end(byte[] bytes, int from, int to) {
        int end = quotedText.end(bytes, from, to, mode.backslashEscapes(bytes[from]));
        backslashes |= quotedText.isEscaped();
        quotes |= quotedText.hasQuotes();
        doubtful |= !quotedText.isClosed() || isGlued(bytes, end, to);
        return end;
    }

    /**
     * Returns whether the word directly after a literal is no keyword, so that the literal's quotes do not match: {@code
     * 'O'Brien'}.
     */
    boolean isGlued(byte[] bytes, int end, int to) {
        return NoBreakSpace.isWordAt(bytes, end, to) && !mayFollow(bytes, end, to);
    }

    /** Returns whether the word in this position is a keyword that may follow a literal. */
    boolean mayFollow(byte[] bytes, int from, int to) {
        int end = NoBreakSpace.wordEnd(bytes, from, to);
        return end - from <= MAX_KEYWORD_LENGTH && AFTER_LITERAL.get(bytes, from, end) != null;
    }

    /**
     * Returns the index after the body of a stored program in another language, {@code $js$ … $js$} (MySQL 9), or -1 if
     * the word in {@code [from, end)} does not begin one. Text that has the form of a tag and does not occur again is a
     * name, which servers before 8.0.32 allowed. Exceptions are {@code $$}, and a CREATE that was cut.
     */
    int dollarQuoteEnd(byte[] bytes, int from, int end, int to, boolean create) {
        int tagTo = dollarTag(bytes, from, end);
        if (tagTo < 0) {
            return -1;
        }
        int size = tagTo - from;
        int after = tagsEnd && size > 2 ? -1 : afterTag(bytes, from, tagTo, to);
        if (after < 0 && size > 2 && !create) {
            tagsEnd = true;
            return -1;
        }
        doubtful |= after < 0;
        return after < 0 ? to : after;
    }

    /** Returns the index after {@code $$} or {@code $js$} at the start of a word, or -1. */
    private static int dollarTag(byte[] bytes, int from, int end) {
        for (int i = from + 1; i < end; i++) {
            if (bytes[i] == '$') {
                return i + 1;
            }
        }
        return -1;
    }

    /** Returns the index after the next tag that equals the one in the range, or -1. */
    private static int afterTag(byte[] bytes, int from, int tagTo, int to) {
        int size = tagTo - from;
        for (int i = tagTo; i + size <= to; i++) {
            if (bytes[i] == '$' && Arrays.equals(bytes, from, tagTo, bytes, i, i + size)) {
                return i + size;
            }
        }
        return -1;
    }

    /** Returns the index of the quote of {@code x'…'}, {@code b'…'}, {@code n'…'} or {@code _charset '…'}, or -1. */
    int introduced(byte[] bytes, int from, int end, int to) {
        if (bytes[from] == '_') {
            return afterCharacterSet(bytes, end, to);
        }
        boolean letter = end - from == 1
                && switch (bytes[from]) {
                    case 'x', 'X', 'b', 'B', 'n', 'N' -> true;
                    default -> false;
                };
        return letter && end < to && bytes[end] == '\'' ? end : -1;
    }

    private int afterCharacterSet(byte[] bytes, int end, int to) {
        int next = NoBreakSpace.skipBlanks(bytes, end, to);
        if (next + 1 < to && bytes[next + 1] == '\'' && isHexadecimalOrBit(bytes[next])) {
            return next + 1;
        }
        return next < to && (bytes[next] == '\'' || bytes[next] == '"' && !mode.ansiQuotes()) ? next : -1;
    }

    private static boolean isHexadecimalOrBit(byte b) {
        return b == 'x' || b == 'X' || b == 'b' || b == 'B';
    }

    /** Returns whether the word is NULL, TRUE or FALSE. */
    static boolean isConstant(byte[] bytes, int from, int end) {
        return switch (end - from) {
            case 4 -> ByteText.startsWithIgnoreCase(bytes, from, end, NULL)
                    || ByteText.startsWithIgnoreCase(bytes, from, end, TRUE);
            case 5 -> ByteText.startsWithIgnoreCase(bytes, from, end, FALSE);
            default -> false;
        };
    }
}
