package io.tailrace.detection.match;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RegexTextsTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '¦',
            quoteCharacter = '`',
            value = {
                "Drop ¦ drop",
                "^drop table$ ¦ drop table",
                "a|bc ¦ a,bc",
                "a|.* ¦ ``",
                "ab*cd ¦ cd",
                "ab+cd ¦ ab",
                "abc?d ¦ ab",
                "ab{0,3}cde ¦ cde",
                "ab{2,3}c ¦ ab",
                "x(drop|truncate) table ¦  table",
                "(?i)drop(?:x|y) ¦ drop",
                "(?P<verb>drop) ¦ drop",
                "(drop)? table ¦  table",
                "(drop)* ¦ ``",
                "[abc]d ¦ d",
                "[]x]de ¦ de",
                "[^]x]de ¦ de",
                "\\bor \\(?\\? ¦ or ",
                "a\\.b\\\\c ¦ a.b\\c",
                "\\x41bcdef ¦ ``",
                "\\Qa.b\\E ¦ ``",
                "[[:alpha:]]abc ¦ ``",
                ".+ ¦ ``",
                "``¦ ``",
            })
    void findsWhatEveryMatchHolds(String regex, String texts) {
        assertThat(String.join(",", RegexTexts.of(regex == null ? "" : regex)).strip())
                .isEqualTo(texts.strip());
    }
}
