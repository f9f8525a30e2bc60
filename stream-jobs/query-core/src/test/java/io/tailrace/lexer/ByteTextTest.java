package io.tailrace.lexer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ByteTextTest {

    /**
     * The texts consist of few letters, so that prefixes of the searched text occur everywhere, and of adjacent byte
     * values.
     */
    @Test
    void findsTextAtTheIndexThatStringsFind() {
        Random random = new Random(11);
        for (int i = 0; i < 200_000; i++) {
            String text = letters(random, random.nextInt(40));
            String wanted = letters(random, 1 + random.nextInt(4));
            int from = random.nextInt(text.length() + 1);
            int to = from + random.nextInt(text.length() - from + 1);
            byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
            int expected = text.substring(0, to).indexOf(wanted, from);
            assertThat(ByteText.indexOf(bytes, from, to, wanted.getBytes(StandardCharsets.ISO_8859_1)))
                    .as("%s in %s from %d to %d", wanted, text, from, to)
                    .isEqualTo(expected);
        }
    }

    /** Ranges begin and end anywhere, so that a byte before or after one that would change the result is read. */
    @Test
    void rangesAreReadAsStringsAre() {
        Random random = new Random(12);
        for (int i = 0; i < 30_000; i++) {
            String all = text(random, random.nextInt(30));
            int from = random.nextInt(all.length() + 1);
            int to = from + random.nextInt(all.length() - from + 1);
            String text = all.substring(from, to);
            byte[] bytes = all.getBytes(StandardCharsets.ISO_8859_1);
            byte other = (byte) "aB\u0080".charAt(random.nextInt(3));
            assertThat(List.of(
                            ByteText.lineFeed(bytes, from, to),
                            ByteText.firstOf(bytes, from, to, (byte) 'b', other),
                            ByteText.wordEnd(bytes, from, to),
                            ByteText.skipBlanks(bytes, from, to),
                            ByteText.trimBlanks(bytes, from, to),
                            ByteText.withoutLineEnd(bytes, from, to)))
                    .as("%s from %d to %d", all, from, to)
                    .containsExactly(
                            from + lengthBefore("\n", text),
                            from + lengthBefore("[b" + (char) (other & 0xff) + "]", text),
                            from + lengthBefore("[ \t-\r]", text),
                            to - text.replaceFirst("^[ \t-\r]+", "").length(),
                            from + lengthBefore("[ \t-\r]+\\z", text),
                            from + lengthBefore("\r?\n?\\z", text));
        }
    }

    private static int lengthBefore(String pattern, String text) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        return matcher.find() ? matcher.start() : text.length();
    }

    @Test
    void textsAreComparedAsStringsAre() {
        Random random = new Random(13);
        for (int i = 0; i < 50_000; i++) {
            String all = text(random, random.nextInt(8));
            int from = random.nextInt(all.length() + 1);
            int to = from + random.nextInt(all.length() - from + 1);
            String text = all.substring(from, to);
            String lower = text.replace('A', 'a').replace('B', 'b');
            byte[] bytes = all.getBytes(StandardCharsets.ISO_8859_1);
            String part = letters(random, 1 + random.nextInt(2));
            byte[] wanted = part.getBytes(StandardCharsets.ISO_8859_1);
            int last = text.lastIndexOf(part);
            assertThat(List.of(
                            ByteText.startsWith(bytes, from, to, wanted),
                            ByteText.startsWithIgnoreCase(bytes, from, to, wanted),
                            ByteText.endsWith(bytes, from, to, wanted),
                            ByteText.equalsIgnoreCase(bytes, from, to, wanted),
                            ByteText.lastIndexOf(bytes, from, to, wanted)))
                    .as("%s in %s from %d to %d", part, all, from, to)
                    .containsExactly(
                            text.startsWith(part),
                            lower.startsWith(part),
                            text.endsWith(part),
                            lower.equals(part),
                            last < 0 ? -1 : from + last);
        }
    }

    @Test
    void everyByteHasItsClass() {
        for (int b = 0; b < 256; b++) {
            char c = (char) b;
            assertThat(ByteText.isBlank((byte) b)).as("blank %d", b).isEqualTo(" \t\n\u000b\f\r".indexOf(c) >= 0);
            assertThat(ByteText.isDigit((byte) b)).as("digit %d", b).isEqualTo("0123456789".indexOf(c) >= 0);
            byte lower = b < 0x80 ? (byte) Character.toLowerCase(c) : (byte) b;
            assertThat(ByteText.lower((byte) b)).as("lower case of %d", b).isEqualTo(lower);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "7", "10", "007", "123456789012345678", "999999999999999999"})
    void decimalsOfAtMost18DigitsAreUnsigned(String text) {
        byte[] bytes = ByteText.ascii("1" + text + "1");
        assertThat(ByteText.unsigned(bytes, 1, bytes.length - 1)).isEqualTo(Long.parseLong(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "+1", "1a", "1/", "1:", "1000000000000000000"})
    void otherTextsAreNotUnsigned(String text) {
        byte[] bytes = ByteText.ascii("1" + text + "1");
        assertThat(ByteText.unsigned(bytes, 1, bytes.length - 1)).isEqualTo(-1);
    }

    private static String text(Random random, int length) {
        StringBuilder text = new StringBuilder(length);
        for (int i = 0; i < length; i++) {
            text.append("aabbAB! \n\r\t\u0080".charAt(random.nextInt(12)));
        }
        return text.toString();
    }

    private static String letters(Random random, int length) {
        StringBuilder text = new StringBuilder(length);
        for (int i = 0; i < length; i++) {
            text.append("ab`\u0080".charAt(random.nextInt(4)));
        }
        return text.toString();
    }
}
