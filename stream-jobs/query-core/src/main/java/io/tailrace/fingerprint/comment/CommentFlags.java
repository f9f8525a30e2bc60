package io.tailrace.fingerprint.comment;

import io.tailrace.lexer.ByteText;

/**
 * Detects comments that cut a clause off, as in {@code WHERE login = 'admin'-- ' AND password = '…'}: the rest of the
 * template after an injected text, whose quote or parenthesis has no beginning: {@link
 * io.tailrace.flag.EventFlag#COMMENT_CUTS_STATEMENT}.
 */
final class CommentFlags {

    private CommentFlags() {}

    /**
     * Returns whether a comment cuts the statement.
     *
     * @param begin first byte of the statement
     * @param from first byte of the comment, its mark {@code #}, {@code --} or an unclosed {@code /*}
     * @param end index after its last byte
     */
    static boolean cuts(byte[] bytes, int begin, int from, int end) {
        if (from <= begin) {
            return false;
        }
        byte before = bytes[from - 1];
        boolean adjacent = before > ' ' && before != ';' && before != ',';
        boolean afterEnd = before == ';'; // as in 1;-- -' AND a = 'b'
        int mark = bytes[from] == '#' ? 1 : 2;
        int text = ByteText.skipBlanks(bytes, from + mark, end);
        if (endsOther(bytes, afterDash(bytes, text, end), end)) {
            return afterEnd
                    || isSameLine(bytes, begin, from)
                    || isNextValue(bytes, text, end)
                    || isQuote(bytes, text, end) && followsSemicolon(bytes, begin, from);
        }
        if (endsLater(bytes, text, end)) {
            return afterEnd || isSameLine(bytes, begin, from);
        }
        if (bytes[from] == '/') {
            return false;
        }
        boolean bare = end - text == 1 && (bytes[text] == '-' || bytes[text] == '+');
        boolean empty = text == end;
        return bare && isSameLine(bytes, begin, from) || adjacent && (empty || continues(bytes, text, end));
    }

    /** Skips the dash of {@code -- -}, which follows the mark. */
    private static int afterDash(byte[] bytes, int text, int end) {
        boolean dash = end - text > 1 && bytes[text] == '-';
        return dash ? ByteText.skipBlanks(bytes, text + 1, end) : text;
    }

    /**
     * Returns whether a closed comment hides the text between two injected ones, as in {@code 'a'/*' AND b = '}{@code *}{@code
     * /}: it follows the end of a literal, and the same quote is its first and last character.
     */
    static boolean spansLiterals(byte[] bytes, int begin, int from, int end) {
        if (from <= begin || bytes[from - 1] != '\'' && bytes[from - 1] != '"') {
            return false;
        }
        int first = ByteText.skipBlanks(bytes, from + 2, end);
        int last = end - 3;
        return last > first && bytes[first] == bytes[from - 1] && bytes[last] == bytes[first];
    }

    /** Returns whether the text ends a literal or a parenthesis that it does not begin: {@code ' AND a = 'b'}. */
    private static boolean endsOther(byte[] bytes, int text, int end) {
        int i = text;
        while (i < end && bytes[i] == ')') {
            i++;
        }
        if (i > text) {
            return true;
        }
        if (i >= end || bytes[i] != '\'' && bytes[i] != '"') {
            return false;
        }
        int quotes = 0;
        for (int at = i; at < end; at++) {
            quotes += bytes[at] == bytes[i] ? 1 : 0;
        }
        return quotes % 2 == 1;
    }

    /** Returns whether the text ends a literal of a list of values and begins the next one: {@code ','b')}. */
    private static boolean isNextValue(byte[] bytes, int text, int end) {
        int comma = ByteText.skipBlanks(bytes, text + 1, end);
        int next = comma < end && bytes[comma] == ',' ? ByteText.skipBlanks(bytes, comma + 1, end) : end;
        return next < end && bytes[next] == bytes[text];
    }

    /** Returns whether the text ends a literal after words of the injection: {@code x' AND a = 'b'}, {@code x','b')}. */
    private static boolean endsLater(byte[] bytes, int text, int end) {
        int quote = text;
        while (quote < end && bytes[quote] != '\'' && bytes[quote] != '"') {
            quote++;
        }
        if (quote == end || !endsOther(bytes, quote, end)) {
            return false;
        }
        int after = ByteText.skipBlanks(bytes, quote + 1, end);
        return after >= end
                || bytes[after] == ')'
                || isNextValue(bytes, quote, end)
                || isTail(bytes, after, end)
                || continues(bytes, after, end) && contains(bytes, after, end, '=');
    }

    /** Returns whether the text is the end of a statement that no prose looks like: {@code LIMIT 1}, {@code ORDER BY}. */
    private static boolean isTail(byte[] bytes, int from, int end) {
        for (byte[] word : TAILS) {
            int after = from + word.length;
            if (after < end && ByteText.equalsIgnoreCase(bytes, from, after, word)) {
                return word != LIMIT || bytes[after] >= '0' && bytes[after] <= '9' || bytes[after] == '?';
            }
        }
        return false;
    }

    private static boolean isQuote(byte[] bytes, int at, int end) {
        return at < end && (bytes[at] == '\'' || bytes[at] == '"');
    }

    /** Returns whether only blanks separate the comment from a semicolon, as in {@code 1; -- ' AND a = 'b'}. */
    private static boolean followsSemicolon(byte[] bytes, int begin, int from) {
        int i = from - 1;
        while (i > begin && (bytes[i] == ' ' || bytes[i] == '\t')) {
            i--;
        }
        return bytes[i] == ';';
    }

    private static boolean contains(byte[] bytes, int from, int end, char wanted) {
        for (int i = from; i < end; i++) {
            if (bytes[i] == wanted) {
                return true;
            }
        }
        return false;
    }

    private static final byte[] LIMIT = ByteText.ascii("limit ");
    private static final byte[][] TAILS = {LIMIT, ByteText.ascii("order by "), ByteText.ascii("group by ")};

    private static final byte[][] CLAUSES = {
        ByteText.ascii("&&"),
        ByteText.ascii("||"),
        ByteText.ascii("and"),
        ByteText.ascii("or"),
        ByteText.ascii("limit"),
        ByteText.ascii("order"),
        ByteText.ascii("group")
    };

    private static boolean continues(byte[] bytes, int text, int end) {
        for (byte[] word : CLAUSES) {
            int after = text + word.length;
            if (after < end && bytes[after] == ' ' && ByteText.equalsIgnoreCase(bytes, text, after, word)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether a token precedes the comment on its line. */
    private static boolean isSameLine(byte[] bytes, int begin, int from) {
        int i = from - 1;
        while (i >= begin && (bytes[i] == ' ' || bytes[i] == '\t')) {
            i--;
        }
        return i >= begin && bytes[i] != '\n' && bytes[i] != '\r' && bytes[i] != ';' && bytes[i] != ',';
    }
}
