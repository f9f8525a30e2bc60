package io.tailrace.lexer;

/**
 * Classifies the bytes of a statement, and finds where words, comments and the literals of a line end. Of these rules,
 * only that of literals depends on {@code sql_mode}.
 */
public final class SqlBytes {

    private static final boolean[] WORD = new boolean[256];
    private static final boolean[] MARK = new boolean[256];

    static {
        for (int b = 0; b < 256; b++) {
            WORD[b] = b >= 'a' && b <= 'z'
                    || b >= 'A' && b <= 'Z'
                    || b >= '0' && b <= '9'
                    || b == '_'
                    || b == '$'
                    || b >= 0x80;
        }
    }

    static {
        for (char mark : "'\"`#-/*;".toCharArray()) {
            MARK[mark] = true;
        }
    }

    private SqlBytes() {}

    /** Returns whether a byte may open or close a literal, quoted name or comment, or end a statement. */
    public static boolean mayChangeMode(byte b) {
        return MARK[b & 0xff];
    }

    /**
     * Returns whether a byte may be part of an unquoted identifier, keyword or number: MySQL's {@code [0-9a-zA-Z$_]}
     * and every non-ASCII byte.
     */
    public static boolean isWord(byte b) {
        return WORD[b & 0xff];
    }

    /** Returns the index of the first byte at or after {@code from} that is not part of a word, or {@code to}. */
    public static int wordEnd(byte[] bytes, int from, int to) {
        int end = from;
        while (end < to && isWord(bytes[end])) {
            end++;
        }
        return end;
    }

    /**
     * Returns the index of the quote that ends a literal, or {@code to}. A doubled quote ends one literal and starts the
     * next one.
     *
     * @param from index in the literal, not directly after a backslash that escapes
     * @param backslashEscapes false for NO_BACKSLASH_ESCAPES
     */
    public static int closingQuote(byte[] bytes, int from, int to, byte quote, boolean backslashEscapes) {
        byte escape = backslashEscapes ? (byte) '\\' : quote;
        int i = ByteText.firstOf(bytes, from, to, quote, escape);
        while (i < to && bytes[i] != quote) {
            i = ByteText.firstOf(bytes, Math.min(i + 2, to), to, quote, escape);
        }
        return i;
    }

    /** Returns whether {@code --} starts a comment: white space, a control character or the end must follow. */
    public static boolean startsDashComment(byte[] bytes, int from, int to) {
        boolean dashes = from + 1 < to && bytes[from] == '-' && bytes[from + 1] == '-';
        return dashes
                && (from + 2 == to
                        || bytes[from + 2] >= 0 && bytes[from + 2] <= ' '
                        || bytes[from + 2] < 0 && NoBreakSpace.after(bytes, from + 2, to) > from + 2);
    }

    /** Returns whether a block comment starts at the index, which may be at or after {@code to}. */
    public static boolean startsBlockComment(byte[] bytes, int from, int to) {
        return from + 1 < to && bytes[from] == '/' && bytes[from + 1] == '*';
    }

    /**
     * Returns the index after the mark of an executable comment, {@code /*!} or {@code /*M!}, or -1 if the block
     * comment that starts at the index is not executable.
     */
    public static int executableFrom(byte[] bytes, int from, int to) {
        int mark = from + 2 < to && bytes[from + 2] == 'M' ? from + 3 : from + 2;
        return mark < to && bytes[mark] == '!' ? mark + 1 : -1;
    }

    /**
     * Returns the index after the end of a block comment.
     *
     * @param from index in the comment, after its {@code /*}
     * @return -1 if it does not end before {@code to}
     */
    public static int commentEnd(byte[] bytes, int from, int to) {
        for (int i = from; i + 1 < to; i++) {
            if (bytes[i] == '*' && bytes[i + 1] == '/') {
                return i + 2;
            }
        }
        return -1;
    }
}
