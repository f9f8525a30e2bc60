package io.tailrace.lexer;

/** Classifies the bytes of a statement. */
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
    static boolean mayChangeMode(byte b) {
        return MARK[b & 0xff];
    }

    /**
     * Returns whether a byte may be part of an unquoted identifier, keyword or number: MySQL's {@code [0-9a-zA-Z$_]}
     * and every non-ASCII byte.
     */
    public static boolean isWord(byte b) {
        return WORD[b & 0xff];
    }
}
