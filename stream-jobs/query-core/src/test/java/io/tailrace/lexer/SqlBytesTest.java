package io.tailrace.lexer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each text is in a larger array, whose bytes before and after it would change the result. */
class SqlBytesTest {

    private static final String WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";
    private static final String MARKS = "'\"`#-/*;";

    @Test
    void everyByteHasItsClass() {
        for (int b = 0; b < 256; b++) {
            assertThat(SqlBytes.isWord((byte) b))
                    .as("byte %d of a word", b)
                    .isEqualTo(b >= 0x80 || WORD.indexOf(b) >= 0);
            assertThat(SqlBytes.mayChangeMode((byte) b)).as("mark %d", b).isEqualTo(MARKS.indexOf(b) >= 0);
        }
    }

    @ParameterizedTest
    @CsvSource({"ab c, 2", "ab, 2", "' a', 0", "'', 0"})
    void aWordEndsBeforeTheFirstOtherByte(String text, int length) {
        assertThat(SqlBytes.wordEnd(bytes(text, "a"), 1, 1 + text.length())).isEqualTo(1 + length);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            value = {
                "a', true, 1",
                "', true, 0",
                "a, true, 1",
                "\"\", true, 0",
                "a\\', true, 3",
                "a\\'b', true, 4",
                "a\\\\', true, 3",
                "a\\, true, 2",
                "a\\', false, 2",
                "a'', true, 1",
            })
    void aLiteralEndsAtTheFirstQuoteThatIsNotEscaped(String text, boolean escapes, int at) {
        byte[] bytes = bytes(text, "''");
        assertThat(SqlBytes.closingQuote(bytes, 1, 1 + text.length(), (byte) '\'', escapes))
                .isEqualTo(1 + at);
    }

    @ParameterizedTest
    @CsvSource({
        "--, true",
        "'-- ', true",
        "--a, false",
        "--!, false",
        "'--\u0000', true",
        "'--\u001f', true",
        "--\u00a0, true",
        "--\u00a1, false",
        "-, false",
        "- -, false",
        "a-, false",
        "-a, false",
        "'', false"
    })
    void dashesStartACommentBeforeWhiteSpace(String text, boolean expected) {
        byte[] bytes = bytes(text, "- ");
        assertThat(SqlBytes.startsDashComment(bytes, 1, bytes.length - 2)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"/*, true", "/**/, true", "/, false", "//, false", "**, false", "'', false"})
    void aSlashAndAStarStartAComment(String text, boolean expected) {
        byte[] bytes = bytes(text, "*");
        assertThat(SqlBytes.startsBlockComment(bytes, 1, 1 + text.length())).isEqualTo(expected);
        assertThat(SqlBytes.startsBlockComment(bytes, bytes.length, bytes.length))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({"/*!, 3", "/*!1, 3", "/*M!, 4", "/*M!1, 4", "/*, -1", "/*M, -1", "/*m!, -1", "/*MM!, -1", "/* !, -1"})
    void anExclamationMarkMakesACommentExecutable(String text, int expected) {
        int code = SqlBytes.executableFrom(bytes(text, "!"), 1, 1 + text.length());
        assertThat(code).isEqualTo(expected < 0 ? -1 : 1 + expected);
    }

    @ParameterizedTest
    @CsvSource({"*/, 2", "a*/, 3", "**/, 3", "a*/*/, 3", "*, -1", "/, -1", "a, -1", "/*, -1", "'', -1"})
    void aCommentEndsAfterAStarAndASlash(String text, int expected) {
        int end = SqlBytes.commentEnd(bytes(text, "/"), 1, 1 + text.length());
        assertThat(end).isEqualTo(expected < 0 ? -1 : 1 + expected);
    }

    private static byte[] bytes(String text, String after) {
        return ByteText.bytes("*" + text + after);
    }
}
