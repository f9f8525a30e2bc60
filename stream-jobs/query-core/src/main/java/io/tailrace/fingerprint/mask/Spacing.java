package io.tailrace.fingerprint.mask;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.NoBreakSpace;
import io.tailrace.lexer.SqlBytes;

/** Finds the end of white space and comments between two tokens. */
final class Spacing {

    private Spacing() {}

    /** Returns the index after white space and comments that are not code. */
    static int end(byte[] bytes, int from, int to) {
        int i = from;
        int before = -1;
        while (i > before) {
            before = i;
            i = afterComment(bytes, NoBreakSpace.skipBlanks(bytes, i, to), to);
        }
        return i;
    }

    private static int afterComment(byte[] bytes, int i, int to) {
        if (i + 2 < to && SqlBytes.startsBlockComment(bytes, i, to) && bytes[i + 2] != '!' && bytes[i + 2] != 'M') {
            return commentEnd(bytes, i, to);
        }
        boolean line = i < to && (bytes[i] == '#' || SqlBytes.startsDashComment(bytes, i, to));
        return line ? ByteText.lineFeed(bytes, i, to) : i;
    }

    /** Returns the index after the block comment that begins here, or the end if it is not closed. */
    private static int commentEnd(byte[] bytes, int from, int to) {
        int end = SqlBytes.commentEnd(bytes, from + 2, to);
        return end < 0 ? to : end;
    }
}
