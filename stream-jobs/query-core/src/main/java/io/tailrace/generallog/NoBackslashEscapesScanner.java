package io.tailrace.generallog;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlBytes;

/**
 * Scans a statement's literals according to {@code sql_mode} NO_BACKSLASH_ESCAPES: a backslash is an ordinary
 * character. It provides a second reading when {@code SELECT 'c:\temp\'} seems never to end.
 */
final class NoBackslashEscapesScanner {

    /** Represents an open block comment. */
    private static final byte COMMENT = '*';

    /** The quote that is open, {@link #COMMENT}, or 0. */
    private byte open;

    void reset() {
        open = 0;
    }

    void line(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            byte b = bytes[i];
            if (open == COMMENT) {
                open = b == '/' && i > from && bytes[i - 1] == '*' ? 0 : open;
            } else if (open != 0) {
                open = b == open ? 0 : open;
            } else if (SqlBytes.startsBlockComment(bytes, i, to)) {
                open = COMMENT;
                i += 2; // the asterisk does not close the comment that it opens
            } else if (b == '\'' || b == '"' || b == '`') {
                open = b;
            } else if (b == '#' || b == '-' && i + 2 < to && bytes[i + 1] == '-' && ByteText.isBlank(bytes[i + 2])) {
                return;
            }
        }
    }

    boolean insideLiteral() {
        return open != 0;
    }

    byte state() {
        return open;
    }

    void restore(byte state) {
        open = state;
    }
}
