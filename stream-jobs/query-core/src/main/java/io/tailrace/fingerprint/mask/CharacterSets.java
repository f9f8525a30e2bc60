package io.tailrace.fingerprint.mask;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlBytes;
import io.tailrace.lexer.WordTable;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Recognizes the names of character sets and collations of MySQL 5.5 to 9 and MariaDB 10 to 12, and the positions in
 * which they occur.
 */
final class CharacterSets {

    private static final int MAX_LENGTH = 64;

    // spotless:off
    private static final WordTable<Boolean> NAMES = WordTable.ofAnyCase(Stream.of(
            "armscii8", "ascii", "big5", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866",
            "cp932", "dec8", "eucjpms", "euckr", "filename", "gb18030", "gb2312", "gbk", "geostd8", "greek", "hebrew", "hp8",
            "keybcs2", "koi8r", "koi8u", "latin1", "latin2", "latin5", "latin7", "macce", "macroman", "sjis", "swe7", "tis620",
            "uca1400", "ucs2", "ujis", "utf16", "utf16le", "utf32", "utf8", "utf8mb3", "utf8mb4")
            .collect(Collectors.toMap(name -> name, name -> true)));
    // spotless:on

    private static final byte[] SET = ByteText.ascii("set");
    private static final byte[] CHARACTER = ByteText.ascii("character");
    private static final byte[] CHAR = ByteText.ascii("char");
    private static final byte[] CHARSET = ByteText.ascii("charset");
    private static final byte[] COLLATE = ByteText.ascii("collate");
    private static final byte[] NAMES_WORD = ByteText.ascii("names");
    private static final byte[] USING = ByteText.ascii("using");
    private static final byte[] CREATE = ByteText.ascii("create");
    private static final byte[] ALTER = ByteText.ascii("alter");

    private CharacterSets() {}

    /** Returns whether the range is a name such as utf8mb4 or utf8mb4_0900_ai_ci, in any case. */
    static boolean isName(byte[] bytes, int from, int to) {
        int end = from;
        while (end < to && bytes[end] != '_') {
            end++;
        }
        boolean known = to - from <= MAX_LENGTH && NAMES.get(bytes, from, end) != null;
        while (known && end < to) {
            byte b = ByteText.lower(bytes[end++]);
            known = b == '_' || ByteText.isDigit(b) || b >= 'a' && b <= 'z';
        }
        return known;
    }

    /**
     * Returns whether the grammar allows a quoted character set or collation after the text up to {@code length},
     * whose verb is in {@code [verbFrom, verbTo)}. After an equals sign it is allowed only in definitions, because
     * elsewhere it may be a column's value.
     */
    static boolean mayFollow(byte[] text, int length, int verbFrom, int verbTo) {
        int end = ByteText.trimBlanks(text, 0, length);
        boolean equals = end > 0 && text[end - 1] == '=';
        if (equals) {
            end = ByteText.trimBlanks(text, 0, end - 1);
        }
        if (end == 0 || !mayEnd(text[end - 1])) {
            return false;
        }
        int from = wordStart(text, end);
        if (is(text, from, end, SET)) {
            int before = ByteText.trimBlanks(text, 0, from);
            return (!equals || defines(text, verbFrom, verbTo)) && isCharacter(text, before);
        }
        if (is(text, from, end, COLLATE)) {
            return !equals || defines(text, verbFrom, verbTo);
        }
        if (is(text, from, end, NAMES_WORD)) {
            return !equals && is(text, verbFrom, verbTo, SET) && isDirectlyAfter(text, verbTo, from);
        }
        return is(text, from, end, CHARSET)
                && (defines(text, verbFrom, verbTo)
                        || !equals && is(text, verbFrom, verbTo, SET) && isDirectlyAfter(text, verbTo, from));
    }

    /**
     * Returns whether the word that begins at {@code from} of masked text is in the position of a character set or
     * collation.
     */
    static boolean isInPosition(byte[] text, int from) {
        int end = ByteText.trimBlanks(text, 0, from);
        boolean equals = end > 0 && text[end - 1] == '=';
        end = equals ? ByteText.trimBlanks(text, 0, end - 1) : end;
        int start = wordStart(text, end);
        return is(text, start, end, COLLATE)
                || is(text, start, end, CHARSET)
                || is(text, start, end, USING) && !equals
                || is(text, start, end, SET) && isCharacter(text, ByteText.trimBlanks(text, 0, start));
    }

    /** Returns whether a byte is the last letter of a word that may precede one. */
    private static boolean mayEnd(byte b) {
        return switch (ByteText.lower(b)) {
            case 't', 'e', 's' -> true;
            default -> false;
        };
    }

    private static boolean isDirectlyAfter(byte[] text, int from, int to) {
        return ByteText.skipBlanks(text, from, to) == to;
    }

    private static boolean isCharacter(byte[] text, int end) {
        int from = wordStart(text, end);
        return is(text, from, end, CHARACTER) || is(text, from, end, CHAR);
    }

    private static boolean defines(byte[] text, int verbFrom, int verbTo) {
        return is(text, verbFrom, verbTo, CREATE) || is(text, verbFrom, verbTo, ALTER);
    }

    private static boolean is(byte[] text, int from, int end, byte[] word) {
        return from >= 0 && ByteText.equalsIgnoreCase(text, from, end, word);
    }

    private static int wordStart(byte[] text, int end) {
        int from = end;
        while (from > 0 && SqlBytes.isWord(text[from - 1])) {
            from--;
        }
        return from;
    }
}
