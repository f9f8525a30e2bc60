package io.tailrace.fingerprint.mask;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlBytes;
import java.util.Arrays;

/**
 * Collapses {@code select a union select a union select a} into {@code select a /*repeat union*&#47;}, as Percona's
 * tools do.
 */
final class Unions {

    private static final byte[] SELECT = ByteText.ascii("select ");
    private static final byte[] UNION = ByteText.ascii(" union ");
    private static final byte[] ALL = ByteText.ascii("all ");
    private static final byte[] REPEAT = ByteText.ascii(" /*repeat union*/");
    private static final byte[] REPEAT_ALL = ByteText.ascii(" /*repeat union all*/");

    /**
     * Maximum number of pairs of a SELECT and a UNION that are compared. It bounds the cost of a statement to this
     * multiple of its length.
     */
    private static final int MAX_TRIES = 64;

    /** Longest text that is searched, bytes: each comparison may read all of it. */
    private static final int MAX_LENGTH = 1 << 20;

    private Unions() {}

    /** Returns whether the comment in the range marks a collapsed union. */
    static boolean isMark(byte[] text, int from, int to) {
        return is(REPEAT, text, from, to) || is(REPEAT_ALL, text, from, to);
    }

    /** Compares with the mark without its leading blank. */
    private static boolean is(byte[] mark, byte[] text, int from, int to) {
        return to - from == mark.length - 1 && Arrays.equals(mark, 1, mark.length, text, from, to);
    }

    /** Number of bytes that must follow the text in its array, because a mark may be longer than what it replaces. */
    static final int ROOM = MAX_TRIES * REPEAT_ALL.length;

    /** Collapses within {@code text[0, length)}; returns the new length. */
    static int collapse(byte[] text, int length) {
        int end = length;
        int union = end > MAX_LENGTH ? -1 : ByteText.indexOf(text, 0, end, UNION);
        if (union < 0) {
            return end;
        }
        int tries = 0;
        int select = nextSelect(text, 0, end);
        while (select >= 0 && tries++ < MAX_TRIES) {
            end = collapseFrom(text, select, end);
            select = nextSelect(text, select + 1, end);
        }
        return end;
    }

    private static int nextSelect(byte[] text, int from, int end) {
        int select = ByteText.indexOf(text, from, end, SELECT);
        while (select > 0 && SqlBytes.isWord(text[select - 1])) {
            select = ByteText.indexOf(text, select + 1, end, SELECT);
        }
        return select;
    }

    /** Compares each union after a SELECT: returns the new end if the text between them is repeated after the union. */
    private static int collapseFrom(byte[] text, int select, int end) {
        int union = ByteText.indexOf(text, select, end, UNION);
        for (int tries = 0; union >= 0 && tries < MAX_TRIES; tries++) {
            boolean all = ByteText.startsWith(text, union + UNION.length, end, ALL);
            int repeated = afterRepeats(text, select, union, end, all);
            if (repeated > union) {
                return replace(text, union, repeated, end, all ? REPEAT_ALL : REPEAT);
            }
            union = ByteText.indexOf(text, union + 1, end, UNION);
        }
        return end;
    }

    private static int afterRepeats(byte[] text, int select, int union, int end, boolean all) {
        int size = union - select;
        int i = union;
        while (true) {
            int copy = i + UNION.length + (all ? ALL.length : 0);
            boolean sameUnion = ByteText.startsWith(text, i, end, UNION)
                    && all == ByteText.startsWith(text, i + UNION.length, end, ALL);
            if (!sameUnion || !isCopy(text, select, copy, size, end)) {
                return i;
            }
            i = copy + size;
        }
    }

    private static boolean isCopy(byte[] text, int select, int copy, int size, int end) {
        if (copy + size > end || copy + size < end && SqlBytes.isWord(text[copy + size])) {
            return false;
        }
        return Arrays.equals(text, select, select + size, text, copy, copy + size);
    }

    private static int replace(byte[] text, int from, int to, int end, byte[] mark) {
        System.arraycopy(text, to, text, from + mark.length, end - to);
        System.arraycopy(mark, 0, text, from, mark.length);
        return end - (to - from) + mark.length;
    }
}
