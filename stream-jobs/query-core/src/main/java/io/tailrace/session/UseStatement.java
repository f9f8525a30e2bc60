package io.tailrace.session;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlBytes;
import java.nio.charset.StandardCharsets;

/** Parses {@code USE shop}. */
public final class UseStatement {

    private static final byte[] USE = ByteText.ascii("use");

    private UseStatement() {}

    /**
     * Returns the database that the statement selects, without quotes, semicolon and blanks, as raw ISO-8859-1
     * characters; null if it is not a {@code USE} statement.
     */
    public static String database(byte[] bytes, int from, int to) {
        int start = afterComments(bytes, from, to);
        int nameFrom = start + USE.length;
        boolean uses = ByteText.startsWithIgnoreCase(bytes, start, to, USE)
                && nameFrom < to
                && (ByteText.isBlank(bytes[nameFrom]) || bytes[nameFrom] == '`');
        return uses ? name(bytes, ByteText.skipBlanks(bytes, nameFrom, to), to) : null;
    }

    private static int afterComments(byte[] bytes, int from, int to) {
        int at = ByteText.skipBlanks(bytes, from, to);
        while (SqlBytes.startsBlockComment(bytes, at, to)) {
            int end = SqlBytes.commentEnd(bytes, at + 2, to);
            at = end < 0 ? to : ByteText.skipBlanks(bytes, end, to);
        }
        return at;
    }

    private static String name(byte[] bytes, int from, int to) {
        int end = ByteText.trimBlanks(bytes, from, to);
        if (end > from && bytes[end - 1] == ';') {
            end = ByteText.trimBlanks(bytes, from, end - 1);
        }
        String name = new String(bytes, from, end - from, StandardCharsets.ISO_8859_1);
        boolean quoted = name.length() > 1 && name.startsWith("`") && name.endsWith("`");
        return quoted ? name.substring(1, name.length() - 1).replace("``", "`") : name;
    }
}
