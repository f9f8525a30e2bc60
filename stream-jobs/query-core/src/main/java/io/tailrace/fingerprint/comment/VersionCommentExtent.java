package io.tailrace.fingerprint.comment;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.ExecutableComment;
import io.tailrace.lexer.SqlBytes;

/**
 * Compares where the version comments of a statement end for servers that run their content and for servers that skip
 * it. Quotes, comments and marks of comments in the content make a difference: the rest of the statement is then code
 * for some servers, and part of a literal or comment for others. Not thread-safe.
 */
public final class VersionCommentExtent {

    private static final int NONE = -1;

    /** End of the open comment for servers that skip it; {@link Integer#MAX_VALUE} if it has none. */
    private int skippedEnd;

    private int place;
    private boolean differs;

    public void clear() {
        skippedEnd = NONE;
        differs = false;
    }

    /**
     * Opens a comment that some servers run.
     *
     * @param from index of its {@code /*}
     * @param written length of the masked text before it
     */
    public void open(byte[] bytes, int from, int to, int written) {
        if (differs || skippedEnd != NONE) {
            differs = true; // servers read a version comment inside another differently
            return;
        }
        place = written;
        int end = ExecutableComment.skippedEnd(bytes, from + 2, to);
        // MySQL reads /*M! as an ordinary comment, in which there is no other one
        differs = bytes[from + 2] == 'M' && end != SqlBytes.commentEnd(bytes, from + 2, to);
        skippedEnd = end < 0 ? Integer.MAX_VALUE : end;
    }

    /** Closes the comment where its content ends as code. */
    public void close(int end) {
        differs |= skippedEnd != NONE && skippedEnd != end;
        skippedEnd = NONE;
    }

    /** Ends the statement: an open comment that others close hides what follows it. */
    public void end(byte[] bytes, int to) {
        int rest = skippedEnd < 0 || skippedEnd >= to ? to : ByteText.skipBlanks(bytes, skippedEnd, to);
        differs |= rest < to;
    }

    /** Returns whether servers disagree about what follows one of the comments. */
    public boolean differs() {
        return differs;
    }

    /** Returns the length of the masked text before the first comment about whose end servers disagree. */
    public int place() {
        return place;
    }
}
