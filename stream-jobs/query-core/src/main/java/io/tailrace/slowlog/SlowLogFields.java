package io.tailrace.slowlog;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.StringPool;
import java.nio.charset.StandardCharsets;

/** Locates the values in header lines. Ranges exclude line ends. */
final class SlowLogFields {

    private static final int TIME_PREFIX_LENGTH = "# Time:".length();
    private static final int USE_PREFIX_LENGTH = "use ".length();
    private static final byte[] USER_WITHIN = ByteText.ascii(" # User@Host:");
    private static final byte[] QUERY_TIME_KEY = ByteText.ascii("# Query_time:");

    private SlowLogFields() {}

    static int timeFrom(byte[] bytes, int lineFrom, int lineTo) {
        return ByteText.skipBlanks(bytes, lineFrom + TIME_PREFIX_LENGTH, lineTo);
    }

    static int timeTo(byte[] bytes, int lineFrom, int lineTo) {
        int user = ByteText.indexOf(bytes, lineFrom, lineTo, USER_WITHIN);
        return ByteText.trimBlanks(bytes, timeFrom(bytes, lineFrom, lineTo), user > 0 ? user : lineTo);
    }

    static int databaseFrom(int lineFrom) {
        return lineFrom + USE_PREFIX_LENGTH;
    }

    /**
     * Returns the range of the database's name in the text after {@code use }: without the semicolon, and without the
     * backticks that MariaDB 10.11 writes. MySQL writes the name unquoted, so a backtick at only one end belongs to
     * it. A name may begin with a blank; servers refuse one that ends with a blank.
     *
     * @return from and to
     */
    static int[] unquotedDatabase(byte[] bytes, int from, int to) {
        int last = ByteText.trimBlanks(bytes, from, to);
        if (last > from && bytes[last - 1] == ';') {
            last = ByteText.trimBlanks(bytes, from, last - 1);
        }
        boolean quoted = last - from > 2 && bytes[from] == '`' && bytes[last - 1] == '`';
        return quoted ? new int[] {from + 1, last - 1} : new int[] {from, last};
    }

    /** Returns the whole seconds of a {@code # Query_time:} line, rounded up; 0 if they cannot be read. */
    static long leadingSeconds(byte[] bytes, int lineFrom, int lineTo) {
        int from = ByteText.skipBlanks(bytes, lineFrom + QUERY_TIME_KEY.length, lineTo);
        int to = from;
        while (to < lineTo && ByteText.isDigit(bytes[to])) {
            to++;
        }
        long seconds = ByteText.unsigned(bytes, from, to);
        return seconds < 0 ? 0 : Math.min(seconds, MAX_SECONDS) + 1;
    }

    /** Larger query times are an overflow in the server, seconds. */
    static final long MAX_SECONDS = 1_000_000_000L;

    /** Returns the database's name of a {@code use} line as UTF-8. */
    static String databaseName(byte[] bytes, int from, int to, StringPool strings) {
        int[] name = unquotedDatabase(bytes, from, to);
        String text = strings.utf8(bytes, name[0], name[1]);
        boolean quoted = name[0] > from && bytes[name[0] - 1] == '`';
        return quoted && text.indexOf('`') >= 0 ? text.replace("``", "`") : text;
    }

    /** Returns the database's name in the text after {@code use }, one ISO-8859-1 character per byte. */
    static String rawDatabaseName(byte[] bytes) {
        int[] name = unquotedDatabase(bytes, 0, bytes.length);
        String text = new String(bytes, name[0], name[1] - name[0], StandardCharsets.ISO_8859_1);
        return name[0] > 0 && bytes[name[0] - 1] == '`' ? text.replace("``", "`") : text;
    }
}
