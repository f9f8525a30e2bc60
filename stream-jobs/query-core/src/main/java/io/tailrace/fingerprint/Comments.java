package io.tailrace.fingerprint;

import io.tailrace.tags.StatementTags;
import io.tailrace.tags.TagReader;

/**
 * Records the positions of a statement's comments. Applications tag a statement before its first word or after its
 * last, so the first comments and the latest are stored. Not thread-safe.
 */
final class Comments {

    private static final int MAX_COUNT = 8;

    private final int[] starts = new int[MAX_COUNT];
    private final int[] ends = new int[MAX_COUNT];
    /** Length of the masked text before each comment. */
    private final int[] places = new int[MAX_COUNT];

    private int count;
    private final TagReader reader = new TagReader();

    void clear() {
        count = 0;
    }

    void add(int from, int end, int place) {
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
    StatementTags tags(byte[] bytes, int end) {
        if (count == 0) {
            return StatementTags.NONE;
        }
        reader.start();
        for (int i = 0; i < count; i++) {
            boolean complete = ends[i] - starts[i] >= 4 && bytes[ends[i] - 1] == '/' && bytes[ends[i] - 2] == '*';
            if (complete && (places[i] == 0 || places[i] >= end)) {
                reader.comment(bytes, starts[i], ends[i]);
            }
        }
        return reader.tags();
    }
}
