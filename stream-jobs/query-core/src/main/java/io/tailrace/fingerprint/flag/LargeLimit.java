package io.tailrace.fingerprint.flag;

import io.tailrace.flag.EventFlag;
import io.tailrace.lexer.ByteText;
import java.util.List;

/**
 * Reads the number of rows of a LIMIT at the end of a statement: {@code LIMIT 1000000}, {@code LIMIT 5, 1000000}, {@code
 * LIMIT 1000000 OFFSET 5}. Reads backwards from the end, so other statements cost a few bytes.
 */
public final class LargeLimit {

    /** The largest page that people and tools usually show. */
    private static final double LARGE = 10_000;

    private static final double VERY_LARGE = 100_000;

    private static final byte[] LIMIT = ByteText.ascii("limit");
    private static final byte[] OFFSET = ByteText.ascii("offset");
    private static final byte[] COMMENT = ByteText.ascii("/*");
    /** Length of a comment after the statement that is skipped. */
    private static final int MAX_COMMENT = 2_048;
    /** Digits of the largest number that servers accept. */
    private static final int MAX_DIGITS = 20;

    private LargeLimit() {}

    /** Returns the flags of a statement without a final semicolon. */
    public static List<String> of(byte[] bytes, int from, int to) {
        double rows = rows(bytes, from, to);
        if (rows < LARGE) {
            return List.of();
        }
        String large = EventFlag.LARGE_LIMIT.wireName();
        return rows < VERY_LARGE ? List.of(large) : List.of(large, EventFlag.VERY_LARGE_LIMIT.wireName());
    }

    /** Returns the number of rows, or -1 if there is no LIMIT with a number at the end. */
    private static double rows(byte[] bytes, int from, int to) {
        int end = withoutComment(bytes, from, ByteText.trimBlanks(bytes, from, to));
        int last = digitsFrom(bytes, from, end);
        int before = ByteText.trimBlanks(bytes, from, last);
        if (last == end || before == from) {
            return -1;
        }
        if (isWord(bytes, from, before, LIMIT)) {
            return number(bytes, last, end);
        }
        boolean comma = bytes[before - 1] == ',';
        boolean offset = isWord(bytes, from, before, OFFSET);
        int firstEnd = ByteText.trimBlanks(bytes, from, comma ? before - 1 : before - OFFSET.length);
        int first = comma || offset ? digitsFrom(bytes, from, firstEnd) : firstEnd;
        boolean limit = first < firstEnd && isWord(bytes, from, ByteText.trimBlanks(bytes, from, first), LIMIT);
        return !limit ? -1 : comma ? number(bytes, last, end) : number(bytes, first, firstEnd);
    }

    /** Returns the end of the statement before a comment, in which drivers name the application. */
    private static int withoutComment(byte[] bytes, int from, int end) {
        if (end - from < COMMENT.length * 2 || bytes[end - 1] != '/' || bytes[end - 2] != '*') {
            return end;
        }
        for (int i = end - COMMENT.length * 2; i >= Math.max(from, end - MAX_COMMENT); i--) {
            if (bytes[i] == '/' && bytes[i + 1] == '*') {
                return ByteText.trimBlanks(bytes, from, i);
            }
        }
        return end;
    }

    private static int digitsFrom(byte[] bytes, int from, int end) {
        int i = end;
        while (i > from && end - i <= MAX_DIGITS && ByteText.isDigit(bytes[i - 1])) {
            i--;
        }
        return i;
    }

    private static boolean isWord(byte[] bytes, int from, int end, byte[] word) {
        int begin = end - word.length;
        return begin > from
                && ByteText.equalsIgnoreCase(bytes, begin, end, word)
                && (ByteText.isBlank(bytes[begin - 1]) || !isName(bytes[begin - 1]));
    }

    private static boolean isName(byte b) {
        return ByteText.isDigit(b)
                || b == '_'
                || b == '$'
                || b == '`'
                || ByteText.lower(b) >= 'a' && ByteText.lower(b) <= 'z';
    }

    private static double number(byte[] bytes, int from, int end) {
        double number = 0;
        for (int i = from; i < end; i++) {
            number = number * 10 + bytes[i] - '0';
        }
        return number;
    }
}
