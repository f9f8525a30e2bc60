package io.tailrace.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.lexer.NoBreakSpace;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The byte 0xA0 is white space for servers whose client uses latin1; some logs contain it in UTF-8. */
class NoBreakSpaceTest {

    private final Fingerprinter fingerprinter = new Fingerprinter();

    private NormalizedStatement shape(byte[] bytes) {
        return fingerprinter.statement(bytes, 0, bytes.length);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0001',
            value = {
                "DROP~DATABASE~shop | drop database shop",
                "GRANT~ALL~ON~*.*~TO~'evil'@'%' | grant all on *.* to `evil`@`%`",
                "SELECT~a~FROM~customers~WHERE~id=1~OR~2=2 | select a from customers where id=? or ?=?",
                "SELECT 'a'~FROM~t | select ? from t",
                "SELECT 1~FROM`t` | select ? from`t`",
                "~SELECT 1~; | select ?",
                "SELECT a --~it's\\nFROM customers | select a from customers",
                "SELECT _utf8mb4~'secret'~FROM t | select ? from t",
                "SELECT a~/*~c~*/~FROM t | select a from t",
                "SET~PASSWORD~FOR~a~=~secret | set password for `a` ?",
            })
    void aNoBreakSpaceSeparatesWords(String text, String fingerprint) {
        String statement = text.replace('~', '\u00a0').replace("\\n", "\n");
        for (Charset charset : List.of(StandardCharsets.ISO_8859_1, StandardCharsets.UTF_8)) {
            NormalizedStatement shape = shape(statement.getBytes(charset));
            assertThat(shape.fingerprint()).as(charset.name()).isEqualTo(fingerprint);
            assertThat(shape.tables().complete()).isFalse();
        }
        byte[] bytes = statement.getBytes(StandardCharsets.ISO_8859_1);
        List<String> flags = fingerprinter.flags(shape(bytes), bytes, 0, bytes.length);
        byte[] blank = statement.replace('\u00a0', ' ').getBytes(StandardCharsets.ISO_8859_1);
        assertThat(flags).isEqualTo(fingerprinter.flags(shape(blank), blank, 0, blank.length));
    }

    @ParameterizedTest
    @ValueSource(strings = {"voilà", "à", "ठिकाना", "\u20a0", "\u0820x", "\ud842\udfa0", "été_à_b", "à1"})
    void itsByteMayBePartOfACharacter(String name) {
        byte[] bytes = ("SELECT " + name + " FROM `a\u00a0b` WHERE c = 'd\u00a0e'").getBytes(StandardCharsets.UTF_8);
        NormalizedStatement shape = shape(bytes);
        assertThat(shape.fingerprint())
                .isEqualTo("select " + name.replaceAll("[0-9]", "?") + " from `a\u00a0b` where c = ?");
        assertThat(shape.tables().complete()).isTrue();
    }

    @Test
    void aByteWithoutItsCharacterIsABlank() {
        for (byte[] bytes : new byte[][] {
            {'a', (byte) 0xa0, 'b'},
            {(byte) 0xc3, (byte) 0xa9, (byte) 0xa0},
            {(byte) 0xe2, (byte) 0xa0, 'b'},
            {(byte) 0xed, (byte) 0xa0, (byte) 0x80},
            {(byte) 0xf0, (byte) 0x80, (byte) 0xa0, (byte) 0x80},
        }) {
            int end = NoBreakSpace.wordEnd(bytes, 0, bytes.length);
            assertThat(bytes[end]).isEqualTo((byte) 0xa0);
        }
    }
}
