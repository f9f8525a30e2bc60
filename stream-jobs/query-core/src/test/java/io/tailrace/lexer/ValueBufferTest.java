package io.tailrace.lexer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ValueBufferTest {

    private final ValueBuffer buffer = new ValueBuffer();

    @Test
    void growsByteByByte() {
        StringBuilder expected = new StringBuilder();
        for (int i = 0; i < 5_000; i++) {
            buffer.put((byte) ('a' + i % 26));
            expected.append((char) ('a' + i % 26));
        }
        assertThat(text()).isEqualTo(expected.toString());
    }

    /** Lengths before, at and after that of the array, and one that twice the array does not hold. */
    @ParameterizedTest
    @ValueSource(ints = {1_023, 1_024, 1_025, 2_048, 2_049, 9_000})
    void growsByRanges(int length) {
        String text = "0123456789".repeat(length / 10 + 1).substring(0, length);
        byte[] bytes = ByteText.ascii("x" + text + "x");
        buffer.put(bytes, 1, bytes.length - 1);
        assertThat(text()).isEqualTo(text);
        buffer.put(bytes, 1, bytes.length - 1);
        assertThat(text()).isEqualTo(text + text);
        buffer.clear();
        assertThat(text()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "41, 41",
        "d7ff, d7ff",
        "d800, fffd",
        "dbff, fffd",
        "dfff, fffd",
        "e000, e000",
        "1f600, 1f600",
        "10ffff, 10ffff",
        "110000, fffd",
        "7fffffff, fffd"
    })
    void whatIsNoCharacterIsReplaced(String code, String expected) {
        buffer.putCharacter(Integer.parseInt(code, 16));
        assertThat(text()).isEqualTo(Character.toString(Integer.parseInt(expected, 16)));
    }

    private String text() {
        return new String(buffer.bytes, 0, buffer.length, StandardCharsets.UTF_8);
    }
}
