package io.tailrace.fingerprint.comment;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlBytes;

/** Recognizes the comment {@code db.table:1/2} with which pt-table-checksum and similar tools mark their statements. */
public final class ToolComment {

    private ToolComment() {}

    /** Returns whether a comment's text matches. */
    public static boolean matches(byte[] bytes, int from, int to) {
        if (to - from < 7 || !ByteText.isDigit(bytes[to - 1]) || bytes[to - 2] != '/') {
            return false;
        }
        if (!ByteText.isDigit(bytes[to - 3]) || bytes[to - 4] != ':') {
            return false;
        }
        int point = SqlBytes.wordEnd(bytes, from, to - 4);
        return point > from
                && point < to - 5
                && bytes[point] == '.'
                && SqlBytes.wordEnd(bytes, point + 1, to - 4) == to - 4;
    }
}
