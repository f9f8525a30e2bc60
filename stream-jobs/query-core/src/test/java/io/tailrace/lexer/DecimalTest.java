package io.tailrace.lexer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DecimalTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0",
                "7",
                "12",
                "12.345678",
                "1.",
                ".5",
                "0.000001",
                "0.100000000001",
                "899999999999999.9",
                "8999999999999999",
                "900000000000000"
            })
    void decimalsAreCorrectlyRounded(String text) {
        assertThat(parse(text)).isEqualTo(Double.parseDouble(text));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ".",
                "..",
                "1..2",
                "1.2.3",
                "-1",
                "+1",
                "1e3",
                "1/",
                "1:",
                "0.1000000000001",
                "9000000000000000",
                "9007199254740993"
            })
    void otherTextsAreNoNumber(String text) {
        assertThat(parse(text)).isNaN();
    }

    private static double parse(String text) {
        byte[] bytes = ByteText.ascii("1" + text + "1");
        return Decimal.parse(bytes, 1, bytes.length - 1);
    }
}
