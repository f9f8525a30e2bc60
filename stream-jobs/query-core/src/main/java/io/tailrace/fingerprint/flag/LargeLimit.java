package io.tailrace.fingerprint.flag;

import io.tailrace.flag.EventFlag;
import io.tailrace.lexer.ByteText;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the number of rows and of skipped rows of a LIMIT at the end of a statement: {@code LIMIT 1000000}, {@code LIMIT 5, 1000000}, {@code
 * LIMIT 1000000 OFFSET 5}, also with comments in place of blanks. Reads backwards from the end, so other statements cost a
 * few bytes.
 */
public final class LargeLimit {

    /** The largest page that people and tools usually show. */
    private static final double LARGE = 10_000;

    private static final double VERY_LARGE = 100_000;

    private static final byte[] LIMIT = ByteText.ascii("limit");
    private static final byte[] OFFSET = ByteText.ascii("offset");
    private static final byte[] COMMENT = ByteText.ascii("/*");
    /** Length of a comment that is skipped. */
    private static final int MAX_COMMENT = 2_048;
    /** Digits of the largest number that servers accept. */
    private static final int MAX_DIGITS = 20;

    private LargeLimit() {}

    /** Returns the flags of a statement without a final semicolon. */
    public static List<String> of(byte[] bytes, int from, int to) {
        int end = trim(bytes, from, to);
        int last = digitsFrom(bytes, from, end);
        int before = last == end ? end : trim(bytes, from, last);
        if (last == end || before == from) {
            return List.of();
        }
        if (isWord(bytes, from, before, LIMIT)) {
            return flags(number(bytes, last, end), 0);
        }
        boolean comma = bytes[before - 1] == ',';
        boolean offset = isWord(bytes, from, before, OFFSET);
        if (!comma && !offset) {
            return List.of();
        }
        int firstEnd = trim(bytes, from, comma ? before - 1 : before - OFFSET.length);
        int first = digitsFrom(bytes, from, firstEnd);
        boolean limit = first < firstEnd && isWord(bytes, from, trim(bytes, from, first), LIMIT);
        if (!limit) {
            return List.of();
        }
        double former = number(bytes, first, firstEnd);
        double latter = number(bytes, last, end);
        return comma ? flags(latter, former) : flags(former, latter);
    }

    private static List<String> flags(double rows, double skipped) {
        if (rows < LARGE && skipped < LARGE) {
            return List.of();
        }
        List<String> flags = new ArrayList<>();
        if (rows >= LARGE) {
            EventFlag.LARGE_LIMIT.addTo(flags);
        }
        if (rows >= VERY_LARGE) {
            EventFlag.VERY_LARGE_LIMIT.addTo(flags);
        }
        if (skipped >= LARGE) {
            EventFlag.LARGE_OFFSET.addTo(flags);
        }
        return flags;
    }

    /** Returns the end of the text before blanks and comments; drivers name the application in a comment at the end. */
    private static int trim(byte[] bytes, int from, int end) {
        int before = end + 1;
        int trimmed = end;
        while (trimmed < before) {
            before = trimmed;
            trimmed = withoutComment(bytes, from, ByteText.trimBlanks(bytes, from, trimmed));
        }
        return trimmed;
    }

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
