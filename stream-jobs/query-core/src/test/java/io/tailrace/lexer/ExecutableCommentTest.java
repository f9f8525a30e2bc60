package io.tailrace.lexer;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.lexer.ExecutableComment.Servers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each text is in a larger array, whose bytes after it would continue a version and end a comment. */
class ExecutableCommentTest {

    @ParameterizedTest
    @CsvSource({
        "/*!, ALL",
        "/*! 1, ALL",
        "/*!9999, ALL",
        "/*!40100, ALL",
        "/*!50500, ALL",
        "/*!50501, SOME",
        "/*!050500, ALL",
        "/*!0505001, ALL",
        "/*!050501, SOME",
        "/*!505000, SOME",
        "/*!99998, SOME",
        "/*!99999, NONE",
        "/*!999999, NONE",
        "/*!9999999, SOME",
        "/*!999998, SOME",
        "/*M!, SOME",
        "/*M!9999, SOME",
        "/*M!50500, SOME",
        "/*M!100100, SOME",
        "/*M!99999, NONE",
        "/*M!999999, NONE"
    })
    void theVersionDecidesWhichServersRunIt(String text, Servers expected) {
        byte[] bytes = bytes(text);
        int to = 1 + text.length();
        int code = SqlBytes.executableFrom(bytes, 1, to);
        assertThat(ExecutableComment.servers(bytes, 1, code, to)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "/*!, 3",
        "/*!a, 3",
        "/*!50001a, 8",
        "/*!50001, 8",
        "/*!1234567, 9",
        "/*M!100100a, 10",
        "/*!?a, 4",
        "/*!99999a, -1",
        "/* a, -1",
        "/, -1",
        "a, -1"
    })
    void codeIsAfterTheMarkAndTheVersion(String text, int expected) {
        int code = ExecutableComment.codeFrom(bytes(text), 1, 1 + text.length());
        assertThat(code).isEqualTo(expected < 0 ? -1 : 1 + expected);
    }

    @ParameterizedTest
    @CsvSource({
        "'#a\nb', 2",
        "#a, 2",
        "'-- a\nb', 4",
        "--a, 0",
        "a#, 0",
        "/*a*/b, 5",
        "/*a, 3",
        "/*/, 3",
        "/**/, 4",
        "/*/*a*/*/, 7",
        "/*!a*/, 0",
        "/*!99999 a*/b, 12",
        "/*!99999 /*a*/ b*/c, 18",
        "/*!99999 /*a*/, 14",
        "/*!99999 /*a, 12",
        "/*!99999, 8",
        "'', 0"
    })
    void aCommentThatNoServerRunsIsSkipped(String text, int length) {
        assertThat(ExecutableComment.afterSkipped(bytes(text), 1, 1 + text.length()))
                .isEqualTo(1 + length);
    }

    @Test
    void nothingIsSkippedAtTheEndOfAnArray() {
        byte[] bytes = ByteText.ascii("#a");
        assertThat(ExecutableComment.afterSkipped(bytes, 2, 2)).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({
        "*/, 2",
        "a*/b, 3",
        "/*a*/*/, 7",
        "/**/*/, 6",
        "/*/*/*/, 7",
        "/*a*/, -1",
        "/*a, -1",
        "/*, -1",
        "*, -1",
        "a, -1",
        "'', -1"
    })
    void aSkippedCommentMayContainAnother(String text, int expected) {
        int end = ExecutableComment.skippedEnd(bytes(text), 1, 1 + text.length());
        assertThat(end).isEqualTo(expected < 0 ? -1 : 1 + expected);
    }

    /** The byte before the text is that of a comment; those after it are a digit and the end of one. */
    private static byte[] bytes(String text) {
        String after = text.endsWith("*") ? "/" : "9*/";
        return ByteText.ascii("#" + text + after);
    }
}
