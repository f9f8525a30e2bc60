package io.tailrace.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.lexer.NoBreakSpace;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
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
    @ValueSource(
            strings = {"voilà", "à", "ठिकाना", "\u20a0", "\u0820x", "\ud842\udfa0", "\udbfe\udc20", "été_à_b", "à1"})
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

    /** Bytes at the bounds of what UTF-8 allows, against Java's decoder. Ranges begin and end anywhere. */
    @Test
    void wordsEndWhereTheDecoderFindsABlank() {
        int[] values = {
            'a', ' ', '\t', 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xa0, 0xa0, 0xa1, 0xbf, 0xc1, 0xc2, 0xc2, 0xc3, 0xdf, 0xe0,
            0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5
        };
        Random random = new Random(14);
        for (int round = 0; round < 40_000; round++) {
            byte[] bytes = new byte[1 + random.nextInt(7)];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) values[random.nextInt(values.length)];
            }
            int from = random.nextInt(bytes.length);
            int to = from + 1 + random.nextInt(bytes.length - from);
            String text = HexFormat.of().formatHex(bytes) + " from " + from + " to " + to;
            assertThat(NoBreakSpace.wordEnd(bytes, from, to))
                    .as("word of %s", text)
                    .isEqualTo(wordEnd(bytes, from, to));
            int after = from + blank(bytes, from, to);
            assertThat(NoBreakSpace.after(bytes, from, to))
                    .as("blank of %s", text)
                    .isEqualTo(after);
            assertThat(NoBreakSpace.isWordAt(bytes, from, to))
                    .as("first byte of %s", text)
                    .isEqualTo(after == from && bytes[from] != ' ' && bytes[from] != '\t');
            assertThat(NoBreakSpace.isWordAt(bytes, to, to)).isFalse();
            int end = from;
            while (end < to && (bytes[end] == ' ' || bytes[end] == '\t' || blank(bytes, end, to) > 0)) {
                end += Math.max(1, blank(bytes, end, to));
            }
            assertThat(NoBreakSpace.skipBlanks(bytes, from, to))
                    .as("blanks of %s", text)
                    .isEqualTo(end);
        }
    }

    private static int blank(byte[] bytes, int at, int to) {
        boolean two = bytes[at] == (byte) 0xc2 && at + 1 < to && bytes[at + 1] == (byte) 0xa0;
        return bytes[at] == (byte) 0xa0 ? 1 : two ? 2 : 0;
    }

    private static int wordEnd(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            if (bytes[i] == ' ' || bytes[i] == '\t') {
                return i;
            }
            String character = bytes[i] == (byte) 0xa0 ? characterAt(bytes, from, i, to) : "a";
            if (character.isEmpty() || character.equals("\u00a0")) {
                return i - character.length();
            }
        }
        return to;
    }

    /** Returns the valid character of several bytes that contains the byte, or an empty text. */
    private static String characterAt(byte[] bytes, int from, int at, int to) {
        for (int first = Math.max(from, at - 3); first <= at; first++) {
            for (int end = at + 1; end <= Math.min(to, first + 4); end++) {
                try {
                    String text = StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(ByteBuffer.wrap(bytes, first, end - first))
                            .toString();
                    if (text.codePointCount(0, text.length()) == 1) {
                        return text;
                    }
                } catch (CharacterCodingException e) {
                    // No character has these bytes.
                }
            }
        }
        return "";
    }
}
