package io.tailrace.fingerprint;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlBytes;
import io.tailrace.lexer.WordTable;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * First step of a fingerprint: reads a statement once and writes it without literals and comments, white space
 * collapsed. Names and keywords stay as they are: {@link NameMask} is the second step. The result is a function of the
 * statement's bytes alone. Not thread-safe.
 */
final class Masker {

    /**
     * Longest masked text, bytes. What follows is read as ever, for it may show that quotes do not match, but not
     * written.
     */
    static final int LONGEST_MASKED = 16 << 20;

    private static final byte[] CREATE = ByteText.ascii("create");
    private static final byte[] NULL = ByteText.ascii("null");
    private static final byte[] TRUE = ByteText.ascii("true");
    /** Longest quoted name, bytes: MySQL allows aliases of 256 characters. Longer ones are masked. */
    private static final int LONGEST_NAME = 1024;

    // spotless:off
    private static final WordTable<Boolean> AFTER_LITERAL = words(
            "and", "or", "xor", "as", "from", "where", "having", "group", "order", "limit", "union", "then", "else",
            "when", "end", "in", "is", "like", "rlike", "regexp", "not", "between", "collate", "separator", "escape",
            "on", "using", "into", "for", "asc", "desc", "div", "mod", "with", "set", "values", "identified");
    // spotless:on
    private static final int LONGEST_KEYWORD = 10;

    private static final byte[] FALSE = ByteText.ascii("false");

    private static WordTable<Boolean> words(String... words) {
        return WordTable.ofAnyCase(Stream.of(words).collect(Collectors.toMap(word -> word, word -> true)));
    }

    private final SqlMode mode;
    private byte[] out = new byte[1024];
    private int length;

    private byte[] in;
    private int to;
    private boolean blankPending;
    private boolean commentPending;
    private boolean toolComment;
    /** The statement ends within a literal or quoted name, or a literal seems to end within a word. */
    private boolean doubtful;
    /** A tag of dollar quotes was a name: those that follow are not looked for, or time would be quadratic. */
    private boolean tagsEnd;
    /** Length of the output with the first literal, or -1 before it. */
    private int trustedLength;

    private final PasswordGuard guard = new PasswordGuard();
    private final Comments comments = new Comments();
    private int verbFrom;
    private int verbTo;

    Masker(SqlMode mode) {
        this.mode = mode;
    }

    /**
     * Masks a statement; the result is in {@link #bytes()} up to {@link #length()}. A statement that ends within a
     * literal was cut, or its quotes do not match: then what seems to stand outside literals may stand inside, and
     * nothing after the first literal is written.
     */
    void mask(byte[] bytes, int from, int end) {
        in = bytes;
        to = end;
        length = 0;
        blankPending = false;
        commentPending = false;
        toolComment = false;
        doubtful = false;
        tagsEnd = false;
        trustedLength = -1;
        verbFrom = -1;
        guard.reset();
        comments.clear();
        int i = from;
        while (i < to) {
            i = token(i);
        }
        if (doubtful && trustedLength >= 0) {
            length = trustedLength;
        }
        in = null;
    }

    byte[] bytes() {
        return out;
    }

    int length() {
        return length;
    }

    /** The statement holds a comment by which Percona's own tools mark their statements. */
    boolean hasToolComment() {
        return toolComment;
    }

    /** The comments that were left out. */
    Comments comments() {
        return comments;
    }

    /** The statement ends within a literal: it was masked from its first one on. */
    boolean isDoubtful() {
        return doubtful;
    }

    /** The first word is this keyword, which is in lower case. */
    boolean isVerb(byte[] keyword) {
        return verbFrom >= 0 && ByteText.equalsIgnoreCase(out, verbFrom, verbTo, keyword);
    }

    /** The first word is this keyword, and nothing stands before it. */
    boolean startsWithVerb(byte[] keyword) {
        return verbFrom == 0 && isVerb(keyword);
    }

    private int token(int i) {
        byte b = in[i];
        return switch (b) {
            case '\'' -> literal(i);
            case '"' -> mode.ansiQuotes() ? quotedName(i) : literal(i);
            case '`' -> quotedName(i);
            case '#' -> lineComment(i);
            case '-' -> dash(i);
            case '+' -> signed(i) ? number(i + 1) : symbol(i);
            case '.' -> i + 1 < to && ByteText.isDigit(in[i + 1]) && !afterName() ? number(i) : symbol(i);
            case '/' -> slash(i);
            case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number(i);
            default -> {
                if (b >= 0 && b <= ' ') {
                    blankPending = true;
                    yield i + 1;
                }
                yield SqlBytes.isWord(b) ? word(i) : symbol(i);
            }
        };
    }

    private int symbol(int i) {
        if (in[i] == ';') {
            guard.endStatement();
        }
        doubtful |= in[i] == '\\' && !isNull(i);
        separate(in[i]);
        put(in[i]);
        return i + 1;
    }

    /** {@code \N}. Any other backslash stands within a literal that seems to have ended. */
    private boolean isNull(int backslash) {
        return backslash + 1 < to && in[backslash + 1] == 'N';
    }

    /** Writes the blank that stands before the next byte, if any does. A comment counts only between two words. */
    private void separate(byte next) {
        if (length > 0) {
            boolean split = commentPending && SqlBytes.isWord(out[length - 1]) && SqlBytes.isWord(next);
            if (blankPending || split) {
                put((byte) ' ');
            }
        }
        blankPending = false;
        commentPending = false;
    }

    private void placeholder() {
        separate((byte) '?');
        put((byte) '?');
    }

    private boolean afterName() {
        boolean adjacent = !blankPending && !commentPending && length > 0;
        return adjacent && (SqlBytes.isWord(out[length - 1]) || isQuote(out[length - 1]) || out[length - 1] == '?');
    }

    /** Ends a quoted name: double quotes are written around nothing else. */
    private static boolean isQuote(byte b) {
        return b == '`' || b == '"';
    }

    private int literal(int from) {
        placeholder();
        trustedLength = trustedLength < 0 ? length : trustedLength;
        int end = afterLiteral(from);
        doubtful |= end < to && SqlBytes.isWord(in[end]) && !mayFollowLiteral(end);
        return end;
    }

    /** A word right behind a literal is a keyword, or the literal's quotes do not match: {@code 'O'Brien'}. */
    private boolean mayFollowLiteral(int from) {
        int end = wordEnd(from);
        return end - from <= LONGEST_KEYWORD && AFTER_LITERAL.get(in, from, end) != null;
    }

    /** Index after a literal; one that never ends reaches the end. A doubled quote belongs to it. */
    private int afterLiteral(int from) {
        byte quote = in[from];
        byte escape = mode.noBackslashEscapes() ? quote : (byte) '\\';
        int i = ByteText.firstOf(in, from + 1, to, quote, escape);
        while (i < to) {
            boolean pair = in[i] != quote || i + 1 < to && in[i + 1] == quote;
            if (!pair) {
                return i + 1;
            }
            i = i + 2 < to ? ByteText.firstOf(in, i + 2, to, quote, escape) : to;
        }
        doubtful = true;
        return to;
    }

    private int quotedName(int from) {
        byte quote = in[from];
        int end = from + 1;
        while (end < to && in[end] != quote) {
            end++;
        }
        if (end == to || end - from > LONGEST_NAME) {
            doubtful |= end == to;
            placeholder();
            return Math.min(end + 1, to);
        }
        separate(quote);
        copy(from, end + 1);
        return end + 1;
    }

    private int dash(int i) {
        boolean comment = i + 1 < to && in[i + 1] == '-' && (i + 2 == to || in[i + 2] >= 0 && in[i + 2] <= ' ');
        if (comment) {
            return lineComment(i);
        }
        return signed(i) ? number(i + 1) : symbol(i);
    }

    /** A sign right before a digit belongs to the number, as for Percona's tools. */
    private boolean signed(int i) {
        int next = i + 1 < to && in[i + 1] == '.' ? i + 2 : i + 1;
        return next < to && ByteText.isDigit(in[next]);
    }

    private int lineComment(int from) {
        commentPending = true;
        return ByteText.lineFeed(in, from, to);
    }

    private int slash(int i) {
        if (i + 1 == to || in[i + 1] != '*') {
            return symbol(i);
        }
        int mark = i + 2 < to && in[i + 2] == 'M' ? i + 3 : i + 2;
        if (mark < to && in[mark] == '!' && !isForNoServer(mark + 1)) {
            separate((byte) '/');
            copy(i, mark + 1);
            return version(mark + 1);
        }
        int end = i + 2;
        while (end + 1 < to && (in[end] != '*' || in[end + 1] != '/')) {
            end++;
        }
        comment(i, Math.min(end + 2, to));
        return Math.min(end + 2, to);
    }

    /**
     * Writes the version of a version comment: {@code 50000} of {@code /*!50000AND}. Its five or six digits end where
     * code begins, with or without a blank. Six digits that may be five and a literal's first are left to the numbers.
     */
    private int version(int from) {
        int end = from;
        while (end < to && ByteText.isDigit(in[end])) {
            end++;
        }
        int digits = end - from;
        boolean joined = end < to && SqlBytes.isWord(in[end]);
        if (!joined || digits != 5 && (digits != 6 || belongsToNumber(in[end]))) {
            return from;
        }
        put((byte) '?');
        blankPending = true;
        return end;
    }

    private static boolean belongsToNumber(byte b) {
        return b == 'x' || b == 'X' || b == 'b' || b == 'B' || b == 'e' || b == 'E';
    }

    /** The version that follows is above that of any server: {@code /*!999999\- enable the sandbox mode *}{@code /}. */
    private boolean isForNoServer(int from) {
        int end = from;
        while (end < to && ByteText.isDigit(in[end])) {
            end++;
        }
        boolean highest = end - from == 5 || end - from == 6;
        for (int i = from; i < end; i++) {
            highest &= in[i] == '9';
        }
        return highest;
    }

    /** A comment is left out, but for the mark of a repeated union: a fingerprint must be its own fingerprint. */
    private void comment(int from, int end) {
        if (Unions.isMark(in, from, end)) {
            separate((byte) '/');
            copy(from, end);
            return;
        }
        toolComment |= ToolComment.matches(in, from + 2, end - 2);
        commentPending = true;
        comments.add(from, end, length);
    }

    private int number(int from) {
        int end = Numbers.end(in, from, to);
        boolean signed = from > 0 && (in[from - 1] == '-' || in[from - 1] == '+');
        boolean joins = signed && !blankPending && !commentPending && endsWithNumber();
        boolean name = end < to && SqlBytes.isWord(in[end]) && in[from] != '.';
        if (name) {
            separate(in[from]);
            copy(from, wordEnd(from));
            return wordEnd(from);
        }
        if (!joins) {
            placeholder();
        }
        return wordEnd(end);
    }

    /** The output ends with what is a placeholder, or what {@link NameMask} makes one. */
    private boolean endsWithNumber() {
        int i = length - 1;
        while (i >= 0 && Numbers.belongsToRun(out[i]) && !ByteText.isDigit(out[i])) {
            i--;
        }
        return i >= 0 && (ByteText.isDigit(out[i]) || i == length - 1 && out[i] == '?');
    }

    private int wordEnd(int from) {
        int end = from;
        while (end < to && SqlBytes.isWord(in[end])) {
            end++;
        }
        return end;
    }

    private int word(int from) {
        int end = wordEnd(from);
        if (in[from] == '$') {
            int tag = dollarTag(from, end);
            int after = tag < 0 ? -1 : dollarQuoted(from, tag);
            if (after >= 0) {
                return after;
            }
        }
        int quote = introducedLiteral(from, end);
        if (quote >= 0) {
            return literal(quote);
        }
        boolean partOfNumber = !blankPending && !commentPending && length > 0 && out[length - 1] == '?';
        if (!partOfNumber && isConstant(from, end)) {
            placeholder();
            return end;
        }
        separate(in[from]);
        int start = length;
        copy(from, end);
        if (verbFrom < 0) {
            verbFrom = start;
            verbTo = length;
        }
        if (guard.masksRest(in, from, end)) {
            blankPending = true;
            placeholder();
            return to;
        }
        return end;
    }

    /** Index after {@code $$} or {@code $js$} at the start of a word, or -1. */
    private int dollarTag(int from, int end) {
        for (int i = from + 1; i < end; i++) {
            if (in[i] == '$') {
                return i + 1;
            }
        }
        return -1;
    }

    /**
     * Masks the body of a stored program in another language, {@code $js$ … $js$}: MySQL 9. What looks like a tag and
     * does not come again is a name, as servers before 8.0.32 allowed, but for {@code $$} and in a CREATE that was cut.
     */
    private int dollarQuoted(int from, int tagTo) {
        int size = tagTo - from;
        int end = tagsEnd && size > 2 ? -1 : afterTag(from, tagTo);
        if (end < 0 && size > 2 && !isVerb(CREATE)) {
            tagsEnd = true;
            return -1;
        }
        placeholder();
        trustedLength = trustedLength < 0 ? length : trustedLength;
        doubtful |= end < 0;
        return end < 0 ? to : end;
    }

    /** Index after the next tag like the one in the range, or -1. */
    private int afterTag(int from, int tagTo) {
        int size = tagTo - from;
        for (int i = tagTo; i + size <= to; i++) {
            if (in[i] == '$' && Arrays.equals(in, from, tagTo, in, i, i + size)) {
                return i + size;
            }
        }
        return -1;
    }

    /** Index of the quote of {@code x'…'}, {@code b'…'}, {@code n'…'} or {@code _charset '…'}, or -1. */
    private int introducedLiteral(int from, int end) {
        boolean letter = end - from == 1
                && switch (in[from]) {
                    case 'x', 'X', 'b', 'B', 'n', 'N' -> true;
                    default -> false;
                };
        if (letter) {
            return end < to && in[end] == '\'' ? end : -1;
        }
        if (in[from] != '_') {
            return -1;
        }
        int next = ByteText.skipBlanks(in, end, to);
        if (next + 1 < to && in[next + 1] == '\'' && isHexadecimalOrBit(in[next])) {
            return next + 1;
        }
        return next < to && (in[next] == '\'' || in[next] == '"' && !mode.ansiQuotes()) ? next : -1;
    }

    private static boolean isHexadecimalOrBit(byte b) {
        return b == 'x' || b == 'X' || b == 'b' || b == 'B';
    }

    private boolean isConstant(int from, int end) {
        return switch (end - from) {
            case 4 -> ByteText.startsWithIgnoreCase(in, from, end, NULL)
                    || ByteText.startsWithIgnoreCase(in, from, end, TRUE);
            case 5 -> ByteText.startsWithIgnoreCase(in, from, end, FALSE);
            default -> false;
        };
    }

    private void copy(int from, int end) {
        int size = Math.min(end - from, LONGEST_MASKED - length);
        if (length + size > out.length) {
            out = Arrays.copyOf(out, grown(length + size));
        }
        System.arraycopy(in, from, out, length, size);
        length += size;
    }

    private void put(byte b) {
        if (length == out.length) {
            if (length == LONGEST_MASKED) {
                return;
            }
            out = Arrays.copyOf(out, grown(length + 1));
        }
        out[length++] = b;
    }

    private int grown(int size) {
        return Math.min(LONGEST_MASKED, Math.max(out.length * 2, size));
    }
}
