package io.tailrace.lexer;

/**
 * Decides which servers run the content of an executable comment, {@code /*! … *}{@code /} or {@code /*M! … *}{@code
 * /}, and finds the end of one for servers that skip it, and of other comments.
 */
public final class ExecutableComment {

    /** The servers that run the content. */
    public enum Servers {
        ALL,
        NONE,
        /** Those of some versions, or of one vendor. */
        SOME
    }

    /** MySQL and MariaDB 5.5 and later run comments up to this version. Dumps contain many of them. */
    private static final long OLDEST = 50_500;

    private static final int SHORT_VERSION = 5;
    private static final int LONG_VERSION = 6;

    private ExecutableComment() {}

    /**
     * Returns which servers run the content of a comment. MySQL reads {@code /*M!} as a comment. MariaDB skips {@code
     * /*!} with a version of MySQL 5.7 to 9. Of a version of six digits, older servers read five.
     *
     * @param from index of the comment's {@code /*}
     * @param code index after its mark, {@link SqlBytes#executableFrom}
     */
    public static Servers servers(byte[] bytes, int from, int code, int to) {
        int end = code;
        boolean highest = true;
        while (end < to && ByteText.isDigit(bytes[end])) {
            highest &= bytes[end++] == '9';
        }
        int digits = end - code;
        if (digits < SHORT_VERSION) {
            return bytes[from + 2] == 'M' ? Servers.SOME : Servers.ALL;
        }
        if (highest && digits <= LONG_VERSION) {
            return Servers.NONE;
        }
        // Read with five digits the version is not greater, so that older servers run the content, too.
        long version = ByteText.unsigned(bytes, code, code + Math.min(digits, LONG_VERSION));
        return bytes[from + 2] != 'M' && version <= OLDEST ? Servers.ALL : Servers.SOME;
    }

    /**
     * Returns the index of the code in an executable comment that some server runs, after the mark and the version.
     *
     * @param from index at which the comment may start; the text may be masked, with a question mark as version
     * @return -1 if no such comment starts there
     */
    public static int codeFrom(byte[] bytes, int from, int to) {
        int mark = SqlBytes.startsBlockComment(bytes, from, to) ? SqlBytes.executableFrom(bytes, from, to) : -1;
        if (mark < 0 || servers(bytes, from, mark, to) == Servers.NONE) {
            return -1;
        }
        int i = mark;
        while (i < to && i < mark + LONG_VERSION && (ByteText.isDigit(bytes[i]) || bytes[i] == '?')) {
            i++;
        }
        return i;
    }

    /**
     * Returns the index after a comment that no server runs, which is that of the line feed after a line comment, or
     * {@code to} if the comment does not end before.
     *
     * @param from index at which the comment may start; returned if none starts there
     */
    public static int afterSkipped(byte[] bytes, int from, int to) {
        if (from < to && bytes[from] == '#' || SqlBytes.startsDashComment(bytes, from, to)) {
            return ByteText.lineFeed(bytes, from, to);
        }
        if (!SqlBytes.startsBlockComment(bytes, from, to) || codeFrom(bytes, from, to) >= 0) {
            return from;
        }
        int mark = SqlBytes.executableFrom(bytes, from, to);
        int end = mark < 0 ? SqlBytes.commentEnd(bytes, from + 2, to) : skippedEnd(bytes, from + 2, to);
        return end < 0 ? to : end;
    }

    /**
     * Returns the index after a comment for a server that skips it: quotes have no meaning, and it may contain one
     * other comment.
     *
     * @param from index in the comment, after its {@code /*}
     * @return -1 if it does not end before {@code to}
     */
    public static int skippedEnd(byte[] bytes, int from, int to) {
        for (int i = from; i + 1 < to; i++) {
            if (bytes[i] == '*' && bytes[i + 1] == '/') {
                return i + 2;
            }
            if (SqlBytes.startsBlockComment(bytes, i, to)) {
                i = SqlBytes.commentEnd(bytes, i + 2, to) - 1;
                if (i < 0) {
                    return -1;
                }
            }
        }
        return -1;
    }
}
