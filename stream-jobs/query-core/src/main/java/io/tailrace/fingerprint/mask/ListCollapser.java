package io.tailrace.fingerprint.mask;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlBytes;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * Second step of a fingerprint. Equalizes masked statements of one class that differ only in length: lists of
 * literals, rows of VALUES, LIMIT, ASC, repeated UNIONs. Not thread-safe.
 */
public final class ListCollapser {

    private static final byte[] LIST = ByteText.ascii("(?+)");
    private static final byte[] ROW = ByteText.ascii("row");
    private static final byte[] IN = ByteText.ascii("in");
    private static final byte[] VALUE = ByteText.ascii("value");
    private static final byte[] VALUES = ByteText.ascii("values");
    private static final byte[] LIMIT = ByteText.ascii("limit ?");
    private static final byte[] OFFSET = ByteText.ascii(" offset ?");
    private static final byte[] ORDER_BY = ByteText.ascii("order by ");
    private static final byte[] ASC = ByteText.ascii("asc");

    /** Maximum average number of times that a byte is read in search of a row's end. */
    private static final int MAX_READINGS = 4;

    private byte[] in;
    private int to;
    private byte[] out = new byte[1024];
    private int length;
    private boolean ordered;
    /** Bytes that may still be read in search of a row's end: nested rows are read once per level. */
    private long rowBudget;
    /** Index after the row that {@link #nextRow} found. */
    private int nextEnd;

    /** Collapses masked text {@code [0, end)}; the result is in {@link #bytes()} up to {@link #length()}. */
    public void collapse(byte[] masked, int end) {
        in = masked;
        to = end;
        length = 0;
        ordered = false;
        rowBudget = MAX_READINGS * (long) end;
        int i = 0;
        while (i < to) {
            i = SqlBytes.isWord(in[i]) ? word(i) : other(i);
        }
        in = null;
        reserve(Unions.ROOM);
        length = Unions.collapse(out, length);
    }

    public byte[] bytes() {
        return out;
    }

    public int length() {
        return length;
    }

    private int other(int i) {
        if (ordered && in[i] == ' ' && isWordAt(i + 1, ASC)) {
            return i + 1 + ASC.length;
        }
        put(in[i]);
        return i + 1;
    }

    private int word(int from) {
        int end = wordEnd(from);
        if (isWord(from, end, IN)) {
            return list(from, end, false);
        }
        if (isWord(from, end, VALUES) || isWord(from, end, VALUE)) {
            return list(from, end, true);
        }
        if (end - from == 5 && ByteText.startsWith(in, from, to, LIMIT)) {
            return limit(from);
        }
        ordered |= ByteText.startsWith(in, from, to, ORDER_BY);
        copy(from, end);
        return end;
    }

    private int limit(int from) {
        int end = from + LIMIT.length;
        copy(from, end);
        if (ByteText.startsWith(in, end, to, OFFSET)) {
            return end + OFFSET.length;
        }
        if (end < to && in[end] == ',') {
            int second = end + 1 < to && in[end + 1] == ' ' ? end + 2 : end + 1;
            return second < to && in[second] == '?' ? second + 1 : end;
        }
        return end;
    }

    /** Writes the word and the list or rows after it. */
    private int list(int from, int wordEnd, boolean rows) {
        copy(from, wordEnd);
        int end = literalLists(wordEnd);
        if (end > wordEnd) {
            put(LIST);
            return rows ? moreRows(end, end) : end;
        }
        if (!rows) {
            return wordEnd;
        }
        int row = ByteText.skipBlanks(in, wordEnd, to);
        int first = rowEnd(row);
        if (first < 0 || nextRow(first) < 0) {
            return wordEnd;
        }
        copy(wordEnd, first);
        return moreRows(row, first);
    }

    /** Returns the index after the lists that contain only placeholders, or {@code from} if there are none. */
    private int literalLists(int from) {
        int end = from;
        int i = from;
        while (true) {
            while (i < to && (in[i] == ' ' || in[i] == ',')) {
                i++;
            }
            if (i == to || in[i] != '(') {
                return end;
            }
            i = literalList(i);
            if (i < 0) {
                return end;
            }
            end = i;
        }
    }

    private int literalList(int from) {
        int depth = 0;
        for (int i = from; i < to; i++) {
            switch (in[i]) {
                case '(' -> depth++;
                case ')' -> {
                    if (--depth == 0) {
                        return i + 1;
                    }
                }
                case '?', ',', ' ' -> {}
                default -> {
                    return -1;
                }
            }
        }
        return -1;
    }

    /**
     * Returns the index after all rows that follow, each with its comma. Writes those that call a function, contain a
     * subquery or read a variable, unless one like it was written before: they say what the statement does.
     *
     * @param row first byte of the row that was written before, {@code firstEnd} if that was a list of placeholders
     */
    private int moreRows(int row, int firstEnd) {
        int next = nextRow(firstEnd);
        if (next < 0) {
            return firstEnd;
        }
        Set<ByteBuffer> known = new HashSet<>();
        if (row < firstEnd) {
            known.add(withoutLiterals(row, firstEnd));
        }
        int end = firstEnd;
        for (; next >= 0; next = nextRow(end)) {
            end = nextEnd;
            if (evaluates(next, end) && known.add(withoutLiterals(next, end))) {
                put((byte) ',');
                copy(next, end);
            }
        }
        return end;
    }

    /** Returns the index of the row after a comma, or -1 if there is none. Sets {@link #nextEnd}. */
    private int nextRow(int end) {
        int comma = ByteText.skipBlanks(in, end, to);
        if (comma == to || in[comma] != ',') {
            return -1;
        }
        int row = ByteText.skipBlanks(in, comma + 1, to);
        nextEnd = rowEnd(row);
        return nextEnd < 0 ? -1 : row;
    }

    /** Returns whether a row calls a function, contains a subquery or reads a variable. */
    private boolean evaluates(int from, int end) {
        int open = from;
        while (in[open] != '(') {
            open++;
        }
        for (int i = open + 1; i < end; i++) {
            if (in[i] == '@' || in[i] == '(') {
                return literalList(open) < 0;
            }
        }
        return false;
    }

    /** Returns a row without placeholders, commas and blanks: calls with more or fewer literals are alike. */
    private ByteBuffer withoutLiterals(int from, int end) {
        byte[] shape = new byte[end - from];
        int size = 0;
        for (int i = from; i < end; i++) {
            if (in[i] != '?' && in[i] != ',' && in[i] != ' ') {
                shape[size++] = in[i];
            }
        }
        return ByteBuffer.wrap(shape, 0, size);
    }

    /**
     * Returns the index after {@code (…)} or {@code row(…)}, or -1 if there is none. A row that is cut extends to the
     * end.
     */
    private int rowEnd(int from) {
        int open = isWordAt(from, ROW) ? ByteText.skipBlanks(in, from + ROW.length, to) : from;
        if (open >= to || in[open] != '(' || rowBudget < 0) {
            return -1;
        }
        int depth = 0;
        for (int i = open; i < to; i++) {
            if (in[i] == '(') {
                depth++;
            } else if (in[i] == ')' && --depth == 0) {
                rowBudget -= i - open;
                return i + 1;
            }
        }
        rowBudget -= to - open;
        return to;
    }

    private boolean isWordAt(int from, byte[] word) {
        int end = from + word.length;
        return ByteText.startsWith(in, from, to, word) && (end == to || !SqlBytes.isWord(in[end]));
    }

    private boolean isWord(int from, int end, byte[] word) {
        return end - from == word.length && ByteText.startsWith(in, from, end, word);
    }

    private int wordEnd(int from) {
        return SqlBytes.wordEnd(in, from, to);
    }

    private void copy(int from, int end) {
        reserve(end - from);
        System.arraycopy(in, from, out, length, end - from);
        length += end - from;
    }

    private void put(byte[] text) {
        reserve(text.length);
        System.arraycopy(text, 0, out, length, text.length);
        length += text.length;
    }

    private void put(byte b) {
        reserve(1);
        out[length++] = b;
    }

    private void reserve(int more) {
        if (length + more > out.length) {
            out = Arrays.copyOf(out, Math.max(out.length * 2, length + more));
        }
    }
}
