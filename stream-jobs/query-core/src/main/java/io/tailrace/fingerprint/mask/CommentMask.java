package io.tailrace.fingerprint.mask;

import io.tailrace.fingerprint.comment.Comments;
import io.tailrace.fingerprint.comment.ToolComment;
import io.tailrace.fingerprint.comment.VersionCommentExtent;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.ExecutableComment;
import io.tailrace.lexer.ExecutableComment.Servers;
import io.tailrace.lexer.NoBreakSpace;

/** Omits comments and records where they are; writes the marks of executable ones. Not thread-safe. */
final class CommentMask {

    private final MaskedText text;
    private final Comments comments = new Comments();
    private final VersionCommentExtent versions = new VersionCommentExtent();
    private boolean toolComment;
    /** The content of an executable comment is read, in which {@code *}{@code /} is its end and no operator. */
    private boolean executable;

    CommentMask(MaskedText text) {
        this.text = text;
    }

    void reset() {
        clear();
        toolComment = false;
        executable = false;
    }

    /** Forgets the comments, but not which tool wrote one. */
    void clear() {
        versions.clear();
        comments.clear();
    }

    /** Returns the omitted comments. */
    Comments comments() {
        return comments;
    }

    boolean hasToolComment() {
        return toolComment;
    }

    boolean isInExecutable() {
        return executable;
    }

    /** Returns whether it depends on the server which part of the statement is a comment. */
    boolean dependsOnServer() {
        return versions.differs();
    }

    /** Returns the length of the masked text before the first comment about whose end servers disagree. */
    int uncertainFrom() {
        return versions.differs() ? versions.place() : Integer.MAX_VALUE;
    }

    /** Omits a comment up to the end of its line; returns the index of the line feed. */
    int line(byte[] bytes, int from, int to) {
        text.comment();
        int end = ByteText.lineFeed(bytes, from, to);
        comments.addLine(from, end);
        return end;
    }

    /** Omits a comment, except the mark of a repeated union: a fingerprint must be its own fingerprint. */
    int block(byte[] bytes, int from, int to) {
        int end = ExecutableComment.afterSkipped(bytes, from, to);
        if (Unions.isMark(bytes, from, end)) {
            text.separate((byte) '/');
            text.copy(bytes, from, end);
            return end;
        }
        toolComment |= ToolComment.matches(bytes, from + 2, end - 2);
        text.comment();
        comments.add(from, end, text.length());
        return end;
    }

    /**
     * Writes the mark of an executable comment and its version.
     *
     * @param code index after the mark
     * @return the index of the content
     */
    int open(byte[] bytes, int from, int code, int to, Servers servers) {
        if (servers == Servers.SOME) {
            versions.open(bytes, from, to, text.length());
        }
        executable = true;
        text.separate((byte) '/');
        text.copy(bytes, from, code);
        return version(bytes, code, to);
    }

    /**
     * Writes the version of a version comment: {@code 50000} of {@code /*!50000AND}. Its five or six digits end where
     * code begins, with or without a blank. Six digits may also be five and the first of a literal; these are treated
     * as a number.
     */
    private int version(byte[] bytes, int from, int to) {
        int end = from;
        while (end < to && ByteText.isDigit(bytes[end])) {
            end++;
        }
        int digits = end - from;
        boolean joined = NoBreakSpace.isWordAt(bytes, end, to);
        if (!joined || digits != 5 && (digits != 6 || belongsToNumber(bytes[end]))) {
            return from;
        }
        text.put((byte) '?');
        text.blank();
        return end;
    }

    private static boolean belongsToNumber(byte b) {
        return b == 'x' || b == 'X' || b == 'b' || b == 'B' || b == 'e' || b == 'E';
    }

    /** Writes the end of an executable comment; returns the index after it. */
    int close(int from) {
        executable = false;
        versions.close(from + 2);
        text.separate((byte) '*');
        text.put((byte) '*');
        text.put((byte) '/');
        return from + 2;
    }

    /** Ends the statement. */
    void end(byte[] bytes, int to) {
        versions.end(bytes, to);
    }
}
