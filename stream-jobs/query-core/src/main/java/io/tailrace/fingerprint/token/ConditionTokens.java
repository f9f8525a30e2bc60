package io.tailrace.fingerprint.token;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.ExecutableComment;
import io.tailrace.lexer.NoBreakSpace;
import io.tailrace.lexer.NumberScanner;
import io.tailrace.lexer.QuotedText;
import io.tailrace.lexer.SqlBytes;
import io.tailrace.lexer.SqlMode;
import io.tailrace.lexer.WordTable;
import java.util.Map;

/**
 * Reads the tokens of a statement, literals included. Comments are skipped; the content of version comments is code.
 * Reading can return to the {@link #from} of any token. Not thread-safe.
 */
public final class ConditionTokens {

    public enum Kind {
        END,
        NUMBER,
        /** A quoted literal. */
        TEXT,
        NULL,
        TRUE,
        FALSE,
        /** A literal in hexadecimal digits or bits, or with a character set. */
        CODED,
        /** A question mark, of a prepared statement or in place of a literal. */
        PLACEHOLDER,
        NAME,
        OR,
        AND,
        NOT,
        WHERE,
        BETWEEN,
        LIKE,
        /** A word that ends a condition. */
        STOP,
        COMPARISON,
        ARITHMETIC,
        OPEN,
        CLOSE,
        OTHER
    }

    // spotless:off
    private static final WordTable<Kind> WORDS = WordTable.ofAnyCase(Map.ofEntries(
            Map.entry("null", Kind.NULL), Map.entry("true", Kind.TRUE), Map.entry("false", Kind.FALSE),
            Map.entry("or", Kind.OR), Map.entry("xor", Kind.OR), Map.entry("and", Kind.AND), Map.entry("not", Kind.NOT),
            Map.entry("where", Kind.WHERE), Map.entry("having", Kind.WHERE), Map.entry("on", Kind.WHERE),
            Map.entry("between", Kind.BETWEEN), Map.entry("like", Kind.LIKE), Map.entry("rlike", Kind.LIKE),
            Map.entry("regexp", Kind.LIKE), Map.entry("order", Kind.STOP), Map.entry("group", Kind.STOP),
            Map.entry("limit", Kind.STOP), Map.entry("union", Kind.STOP), Map.entry("intersect", Kind.STOP),
            Map.entry("except", Kind.STOP), Map.entry("for", Kind.STOP), Map.entry("into", Kind.STOP),
            Map.entry("procedure", Kind.STOP), Map.entry("lock", Kind.STOP), Map.entry("window", Kind.STOP),
            Map.entry("then", Kind.STOP)));
    // spotless:on

    private final SqlMode mode;
    private final QuotedText quotedText = new QuotedText();
    private byte[] in;
    private int first;
    private int to;
    /** Index of the next unread byte. */
    private int at;

    private Kind kind;
    private int from;
    private int end;
    /** The current token is not cut off within quotes. */
    private boolean closed;

    private boolean versions;

    public ConditionTokens(SqlMode mode) {
        this.mode = mode;
    }

    public void start(byte[] bytes, int begin, int last) {
        in = bytes;
        first = begin;
        at = begin;
        to = last;
        versions = false;
        next();
    }

    /** Returns whether a version comment was read, whose content only some servers run. */
    public boolean hasVersions() {
        return versions;
    }

    public Kind kind() {
        return kind;
    }

    public int from() {
        return from;
    }

    public int end() {
        return end;
    }

    public byte[] bytes() {
        return in;
    }

    /** Returns the index after the last byte that is read. */
    public int limit() {
        return to;
    }

    /** Returns whether the current token is a quoted name. */
    public boolean isQuotedName() {
        return kind == Kind.NAME && isNameQuote(in[from]);
    }

    /**
     * Returns whether the current token is {@code ||}, which is OR unless {@code sql_mode} contains PIPES_AS_CONCAT.
     */
    public boolean isPipes() {
        return kind == Kind.OR && in[from] == '|';
    }

    /** Returns whether the current token has its closing quote. */
    public boolean isClosed() {
        return closed;
    }

    /** Returns whether the current token has its closing quote and no word directly precedes or follows it. */
    public boolean isSound() {
        boolean glued = NoBreakSpace.isWordAt(in, end, to) || from > first && SqlBytes.isWord(in[from - 1]);
        return closed && !glued;
    }

    /** Returns to a token by its {@link #from}. */
    public void back(int token) {
        at = token;
        next();
    }

    public boolean isLiteral() {
        return switch (kind) {
            case NUMBER, TEXT, NULL, TRUE, FALSE, CODED, PLACEHOLDER -> true;
            default -> false;
        };
    }

    public boolean isComma() {
        return kind == Kind.OTHER && in[from] == ',';
    }

    /** Returns whether the current token is NULL, or may be in a masked text. */
    public boolean isNull(boolean masked) {
        return kind == Kind.NULL || masked && kind == Kind.PLACEHOLDER;
    }

    public boolean is(byte[] lowerCaseWord) {
        return ByteText.equalsIgnoreCase(in, from, end, lowerCaseWord);
    }

    /** Reads the next token; has no effect at the end. */
    public void next() {
        skip();
        closed = true;
        from = at;
        kind = at < to ? read(in[at]) : Kind.END;
        end = at;
    }

    private void skip() {
        int before = -1;
        while (at < to && at != before) {
            before = at;
            at = NoBreakSpace.skipBlanks(in, at, to);
            if (at < to) {
                at = afterComment();
            }
        }
    }

    private boolean at(int index, char c) {
        return index < to && in[index] == c;
    }

    private int afterComment() {
        if (in[at] == '*' && at(at + 1, '/')) {
            return at + 2;
        }
        int code = ExecutableComment.codeFrom(in, at, to);
        versions |= code >= 0;
        return code >= 0 ? code : ExecutableComment.afterSkipped(in, at, to);
    }

    private Kind read(byte b) {
        return switch (b) {
            case '\'' -> quoted();
            case '"' -> mode.ansiQuotes() ? name() : quoted();
            case '`' -> name();
            case '(' -> one(Kind.OPEN);
            case ')' -> one(Kind.CLOSE);
            case ';' -> one(Kind.STOP);
            case '?' -> one(Kind.PLACEHOLDER);
            case '=', '<', '>', '!' -> comparison();
            case '|', '&' -> logical(b);
            case '+', '-', '*', '/', '%' -> one(Kind.ARITHMETIC);
            case '.' -> at + 1 < to && ByteText.isDigit(in[at + 1]) ? number() : one(Kind.OTHER);
            case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number();
            default -> SqlBytes.isWord(b) || b == '@' ? word() : one(Kind.OTHER);
        };
    }

    private Kind one(Kind found) {
        at++;
        return found;
    }

    private boolean isNameQuote(byte b) {
        return b == '`' || b == '"' && mode.ansiQuotes();
    }

    private Kind quoted() {
        at = quotedEnd(at);
        return Kind.TEXT;
    }

    /** Returns the index after the closing quote, or the end if there is none. */
    private int quotedEnd(int begin) {
        int after = quotedText.end(in, begin, to, mode.backslashEscapes(in[begin]));
        closed &= quotedText.isClosed();
        return after;
    }

    private Kind comparison() {
        byte first = in[at++];
        while (at < to && (in[at] == '=' || in[at] == '>' && first == '<')) {
            at++;
        }
        boolean alone = first == '!' && at == from + 1;
        return alone ? Kind.NOT : Kind.COMPARISON;
    }

    private Kind logical(byte b) {
        boolean pair = at(at + 1, (char) b);
        at += pair ? 2 : 1;
        return !pair ? Kind.OTHER : b == '|' ? Kind.OR : Kind.AND;
    }

    private Kind number() {
        int last = NumberScanner.end(in, at, to);
        boolean coded = at + 1 < last && (in[at + 1] == 'x' || in[at + 1] == 'b');
        if (NoBreakSpace.isWordAt(in, last, to) && NumberScanner.mayBeginName(in, at, last)) {
            return name();
        }
        at = last;
        return coded ? Kind.CODED : Kind.NUMBER;
    }

    private Kind word() {
        int last = wordEnd(at);
        if (at(last, '\'')
                && (in[at] == '_' && in[last - 1] != '@' || last - at == 1 && "xXbBnN".indexOf(in[at]) >= 0)) {
            at = last;
            quoted();
            return Kind.CODED;
        }
        Kind found = WORDS.get(in, at, last);
        if (found == null || at(last, '.')) {
            return name();
        }
        at = last;
        return found;
    }

    /** Reads a name with its qualifiers. */
    private Kind name() {
        int before = -1;
        while (at < to && at != before) {
            before = at;
            at = isNameQuote(in[at]) ? quotedEnd(at) : wordEnd(at);
            boolean goesOn =
                    at(at, '.') && at + 1 < to && (isNameQuote(in[at + 1]) || NoBreakSpace.isWordAt(in, at + 1, to));
            at += goesOn ? 1 : 0;
            before = goesOn ? before : at;
        }
        return Kind.NAME;
    }

    private int wordEnd(int first) {
        int i = NoBreakSpace.wordEnd(in, first, to);
        while (i < to && in[i] == '@') {
            i = NoBreakSpace.wordEnd(in, i + 1, to);
        }
        return i;
    }
}
