package io.tailrace.json;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.lexer.ValueBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class JsonStringsTest {

    private final JsonStrings strings = new JsonStrings();

    private String read(String written) {
        byte[] bytes = (written + "\"").getBytes(StandardCharsets.UTF_8);
        ValueBuffer value = new ValueBuffer();
        assertThat(strings.read(bytes, 0, bytes.length, value)).isEqualTo(bytes.length);
        return new String(value.bytes, 0, value.length, StandardCharsets.UTF_8);
    }

    @Test
    void readsAllEscapes() {
        assertThat(read("\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041é")).isEqualTo("\"\\/\b\f\n\r\tAé");
        assertThat(read("\\ud83d\\ude00 \\uD83D\\uDE00")).isEqualTo("😀 😀");
        assertThat(read("")).isEmpty();
        assertThat(strings.isRepaired()).isFalse();
    }

    @Test
    void anUnknownEscapeIsItsCharacter() {
        assertThat(read("it\\'s \\x")).isEqualTo("it's x");
    }

    @Test
    void halfOfAPairTakesNothingAlong() {
        assertThat(read("\\ud83d")).isEqualTo("\ufffd");
        assertThat(read("\\ude00.")).isEqualTo("\ufffd.");
        assertThat(read("\\ud83d\\u0041")).isEqualTo("\ufffdA");
        assertThat(read("\\ud83d\\n")).isEqualTo("\ufffd\n");
        assertThat(read("\\ud83d\\ud83d\\ude00")).isEqualTo("\ufffd😀");
    }

    @Test
    void notesWhatJsonDoesNotAllow() {
        assertThat(read("a\nb")).isEqualTo("a\nb");
        assertThat(strings.isRepaired()).isTrue();
        assertThat(read("\\u41-")).isEqualTo("A-");
        assertThat(strings.isRepaired()).isTrue();
        assertThat(read("a")).isEqualTo("a");
        assertThat(strings.isRepaired()).isFalse();
    }

    @Test
    void aStringWithoutItsQuoteIsNone() {
        for (String written : new String[] {"", "a", "a\\", "\\u", "\\u00", "\\ud83d\\u"}) {
            byte[] bytes = written.getBytes(StandardCharsets.UTF_8);
            assertThat(strings.read(bytes, 0, bytes.length, new ValueBuffer())).isEqualTo(-1);
        }
    }
}
