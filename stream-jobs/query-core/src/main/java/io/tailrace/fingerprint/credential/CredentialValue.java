package io.tailrace.fingerprint.credential;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.NumberScanner;
import io.tailrace.lexer.SqlBytes;
import io.tailrace.lexer.WordTable;
import java.util.Map;

/** Finds the end of a text without quotes that is assigned to a setting and may be a key or token. */
public final class CredentialValue {

    private static final WordTable<Boolean> KEYWORDS = WordTable.ofAnyCase(
            Map.of("default", true, "null", true, "on", true, "off", true, "true", true, "false", true));

    private CredentialValue() {}

    /**
     * Returns the index after the text; {@code from} if there is none, or a keyword, number, literal, variable or
     * function is in its place.
     *
     * @param oneWord whether a blank ends the text; otherwise it ends before a comma, semicolon, comment or quote
     */
    public static int end(byte[] bytes, int from, int to, boolean oneWord) {
        int end = from;
        while (end < to && isOfValue(bytes, end, to) && !(oneWord && ByteText.isBlank(bytes[end]))) {
            end++;
        }
        end = ByteText.trimBlanks(bytes, from, end);
        boolean other = end == from
                || bytes[from] == '@'
                || end < to && bytes[end] == '('
                || KEYWORDS.get(bytes, from, end) != null
                || ByteText.isDigit(bytes[from]) && NumberScanner.end(bytes, from, end) == end
                || isIntroducer(bytes, from, end, to);
        return other ? from : end;
    }

    private static boolean isOfValue(byte[] bytes, int i, int to) {
        return switch (bytes[i]) {
            case '\'', '"', '`', ',', ';', '(', ')' -> false;
            case '*' -> i + 1 == to || bytes[i + 1] != '/';
            case '/' -> !SqlBytes.startsBlockComment(bytes, i, to);
            case '#' -> false;
            case '-' -> !SqlBytes.startsDashComment(bytes, i, to);
            default -> true;
        };
    }

    /** Returns whether the text belongs to a literal that follows it: {@code _utf8mb4'…'}, {@code x'…'}. */
    private static boolean isIntroducer(byte[] bytes, int from, int end, int to) {
        boolean introducer = bytes[from] == '_' || end == from + 1;
        return introducer && end < to && bytes[end] == '\'' && SqlBytes.wordEnd(bytes, from, to) == end;
    }
}
