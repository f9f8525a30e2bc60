package io.tailrace.fingerprint.mask;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlBytes;
import java.util.Arrays;

/**
 * Removes consecutive repetitions of the same row of placeholders after VALUES, except the first row. The class and
 * the tables remain the same, because {@link ListCollapser} makes one list of such rows anyway. A bulk insert becomes
 * short enough for the cache, whatever its number of rows.
 */
public final class RepeatedRows {

    private static final byte[] VALUE = ByteText.ascii("value");

    private RepeatedRows() {}

    /**
     * Returns the text {@code masked[0, length)} without such rows, or null if there are none.
     *
     * @param limit number of bytes in which the first row must begin
     */
    public static byte[] removed(byte[] masked, int length, int limit) {
        int row = firstRow(masked, Math.min(length, limit));
        int rowTo = row < 0 ? -1 : rowEnd(masked, row, length);
        if (rowTo < 0) {
            return null;
        }
        int nextRow = ByteText.skipBlanks(masked, Math.min(rowTo + 1, length), length);
        int size = nextRow - row;
        int at = rowTo;
        while (at + size <= length && masked[at] == ',' && isNext(masked, at, row, rowTo, nextRow)) {
            at += size;
        }
        if (at == rowTo) {
            return null;
        }
        byte[] shorter = Arrays.copyOf(masked, rowTo + length - at);
        System.arraycopy(masked, at, shorter, rowTo, length - at);
        return shorter;
    }

    /** Returns whether a separator and a row equal to the first ones follow. */
    private static boolean isNext(byte[] masked, int at, int row, int rowTo, int nextRow) {
        int separator = nextRow - rowTo;
        return Arrays.equals(masked, rowTo, nextRow, masked, at, at + separator)
                && Arrays.equals(masked, row, rowTo, masked, at + separator, at + nextRow - row);
    }

    /** Returns the index of the parenthesis after the first VALUE or VALUES that has one, or -1. */
    private static int firstRow(byte[] masked, int to) {
        for (int i = 1; i < to; i++) {
            boolean word = ByteText.lower(masked[i]) == 'v'
                    && !SqlBytes.isWord(masked[i - 1])
                    && ByteText.startsWithIgnoreCase(masked, i, to, VALUE);
            if (word) {
                int end = i + VALUE.length;
                end += end < to && ByteText.lower(masked[end]) == 's' ? 1 : 0;
                int row = ByteText.skipBlanks(masked, end, to);
                if (row < to && masked[row] == '(') {
                    return row;
                }
            }
        }
        return -1;
    }

    /** Returns the index after a row that contains only placeholders, or -1. */
    private static int rowEnd(byte[] masked, int from, int to) {
        int i = from + 1;
        while (i < to && (masked[i] == '?' || masked[i] == ',' || masked[i] == ' ')) {
            i++;
        }
        return i < to && masked[i] == ')' ? i + 1 : -1;
    }
}
