package io.tailrace.detection.match;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.re2j.Pattern;
import io.tailrace.testing.PropertyTestBudget;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequiredLiteralsTest {

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
                "ab+cd ¦ bcd",
                "abc?d ¦ abcd,abd",
                "abc??d ¦ abcd,abd",
                "ab{0,3}cde ¦ cde",
                "ab{2,3}c ¦ ab",
                "ab{2,3}cd ¦ bcd",
                "ab{,3}cd ¦ ``",
                "ab{cd ¦ ``",
                "x(drop|truncate) table ¦ xdrop table,xtruncate table",
                "(?i)drop(?:x|y) ¦ dropx,dropy",
                "(?P<verb>drop) ¦ drop",
                "(drop)? table ¦  table",
                "(drop)* ¦ ``",
                "(ab)+c ¦ abc",
                "(a|)b ¦ b",
                "[abc]d ¦ d",
                "[]x]de ¦ de",
                "[^]x]de ¦ de",
                "a\\bb\\B$ ¦ ab",
                "\\bor \\(?\\? ¦ or (?,or ?",
                "\\?(or|and)\\b ¦ ?or,?and",
                "(select|from).*(drop|kill) ¦ drop,kill",
                "(where|and).*(a|b|c) ¦ where,and",
                "a\\.b\\\\c ¦ a.b\\c",
                "\\x41bcdef ¦ ``",
                "\\Qa.b\\E ¦ ``",
                "[[:alpha:]]abc ¦ ``",
                ".+ ¦ ``",
                "``¦ ``",
            })
    void findsWhatEveryMatchHolds(String regex, String texts) {
        assertThat(String.join(",", RequiredLiterals.of(regex == null ? "" : regex))
                        .strip())
                .isEqualTo(texts.strip());
    }

    @Test
    void everyMatchOfARandomExpressionHoldsOne() {
        Random random = new Random(11);
        int certain = 0;
        for (int i = 0; i < PropertyTestBudget.of(4_000, 20_000); i++) {
            String regex = regex(random, 3);
            List<String> texts = RequiredLiterals.of(regex);
            Pattern pattern = Pattern.compile(regex);
            for (int j = 0; !texts.isEmpty() && j < 30; j++) {
                String text = text(random);
                if (pattern.matcher(text).find()) {
                    certain++;
                    assertThat(texts).as("%s in %s", regex, text).anyMatch(text::contains);
                }
            }
        }
        assertThat(certain).isGreaterThan(PropertyTestBudget.of(2_000, 10_000));
    }

    private static String regex(Random random, int depth) {
        StringBuilder regex = new StringBuilder();
        for (int parts = 1 + random.nextInt(3); parts > 0; parts--) {
            regex.append(
                    switch (random.nextInt(depth == 0 ? 5 : 7)) {
                        case 0 -> "[ab]";
                        case 1 -> List.of("^", "\\b", "$", ".", "\\w", "\\B").get(random.nextInt(6));
                        case 2, 3, 4 -> String.valueOf((char) ('a' + random.nextInt(3)));
                        case 5 -> "(" + regex(random, depth - 1) + ")";
                        default -> "(?:" + regex(random, depth - 1) + "|" + regex(random, depth - 1) + ")";
                    });
            regex.append(
                    List.of("", "", "", "", "?", "*", "+", "{2}", "{0,2}", "+?").get(random.nextInt(10)));
        }
        return regex.toString();
    }

    private static String text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int length = random.nextInt(10); length > 0; length--) {
            text.append("abc ".charAt(random.nextInt(4)));
        }
        return text.toString();
    }
}
