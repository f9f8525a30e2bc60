package io.tailrace.fingerprint.comment;

import io.tailrace.tags.StatementTags;
import io.tailrace.tags.TagReader;

/**
 * Records the positions of a statement's comments. Applications tag a statement before its first word or after its
 * last, so the first comments and the latest are stored. Not thread-safe.
 */
public final class Comments {

    private static final int MAX_COUNT = 8;
    private static final int MAX_LINES = 4;
    /** Length of a comment that has no content but perhaps two characters. */
    private static final int MAX_EMPTY = 6;
    /** Number of such comments that people and programs do not write into one statement. */
    private static final int MANY_EMPTY = 3;

    private final int[] starts = new int[MAX_COUNT];
    private final int[] ends = new int[MAX_COUNT];
    /** Length of the masked text before each comment. */
    private final int[] places = new int[MAX_COUNT];

    private int count;
    private int empty;
    /** The first comments from {@code #} or {@code --} to the end of a line. */
    private final int[] lineStarts = new int[MAX_LINES];

    private final int[] lineEnds = new int[MAX_LINES];
    private int lines;
    private final TagReader reader = new TagReader();

    public void clear() {
        count = 0;
        empty = 0;
        lines = 0;
    }

    /** Records a comment that ends with its line. */
    public void addLine(int from, int end) {
        if (lines < MAX_LINES) {
            lineStarts[lines] = from;
            lineEnds[lines++] = end;
        }
    }

    /**
     * Returns whether a comment cuts a clause off.
     *
     * @param bytes the original text of the statement
     * @param begin its first byte
     */
    public boolean cutStatement(byte[] bytes, int begin) {
        for (int i = 0; i < lines; i++) {
            if (CommentFlags.cuts(bytes, begin, lineStarts[i], lineEnds[i])) {
                return true;
            }
        }
        int last = Math.min(count, MAX_COUNT) - 1;
        for (int i = 0; i <= last; i++) {
            if (isClosed(bytes, i) && CommentFlags.spansLiterals(bytes, begin, starts[i], ends[i])) {
                return true;
            }
        }
        return last >= 0 && !isClosed(bytes, last) && CommentFlags.cuts(bytes, begin, starts[last], ends[last]);
    }

    private boolean isClosed(byte[] bytes, int comment) {
        int end = ends[comment];
        return end - starts[comment] >= 4 && bytes[end - 1] == '/' && bytes[end - 2] == '*';
    }

    /** Returns whether the statement contains so many empty comments that they are most likely in place of blanks. */
    public boolean replaceBlanks() {
        return empty >= MANY_EMPTY;
    }

    public void add(int from, int end, int place) {
        empty += end - from <= MAX_EMPTY ? 1 : 0;
        int index = Math.min(count, MAX_COUNT - 1);
        starts[index] = from;
        ends[index] = end;
        places[index] = place;
        count = index + 1;
    }

    /**
     * Returns the tags of the comments before the first token and after the last.
     *
     * @param bytes the original text of the statement
     * @param end length of the masked text without its final semicolon
     */
    public StatementTags tags(byte[] bytes, int end) {
        if (count == 0) {
            return StatementTags.NONE;
        }
        reader.start();
        for (int i = 0; i < count; i++) {
            if (isClosed(bytes, i) && (places[i] == 0 || places[i] >= end)) {
                reader.comment(bytes, starts[i], ends[i]);
            }
        }
        return reader.tags();
    }
}
