package io.tailrace.fingerprint.flag;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LiteralTextTest {

    private static final int MAX_LENGTH = 4096;

    private static String read(String function) {
        SqlMode mode = new SqlMode(false, false);
        ConditionTokens tokens = new ConditionTokens(mode);
        byte[] bytes = ByteText.bytes(function);
        tokens.start(bytes, 0, bytes.length);
        return new LiteralText(tokens, mode).read();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "replace('abab', 'a', 'xy')|xybxyb",
                "replace('aaa', 'aa', 'b')|ba",
                "replace('abc', '', 'x')|abc",
                "replace('abc', 'd', 'x')|abc",
                "replace(replace('a-b', '-', '+'), '+', '')|ab",
                "concat_ws('-', 'a', '', 'b')|a--b",
                "concat_ws(concat('-', '+'), 'a', 'b')|a-+b",
                "concat('a', concat_ws(',', 'b', 'c'), 1)|ab,c1"
            })
    void valuesAreThoseOfServers(String function, String value) {
        assertThat(read(function)).isEqualTo(value);
    }

    @Test
    void nestedFunctionsAreLimited() {
        String replaced = "'" + "a".repeat(20) + "'";
        for (char c = 'a'; c < 'e'; c++) {
            replaced = "replace(" + replaced + ",'" + c + "','"
                    + String.valueOf((char) (c + 1)).repeat(20) + "')";
        }
        String joined = "'separator'";
        for (int i = 0; i < 3; i++) {
            joined = "concat_ws(" + joined + ",''".repeat(20) + ")";
        }
        assertThat(read(replaced)).hasSize(MAX_LENGTH);
        assertThat(read(joined)).hasSize(MAX_LENGTH).startsWith("separatorseparator");
        assertThat(read("concat(" + replaced + "," + joined + ")")).hasSize(MAX_LENGTH);
    }
}
