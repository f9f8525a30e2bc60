package io.tailrace.lexer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

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

    private static String letters(Random random, int length) {
        StringBuilder text = new StringBuilder(length);
        for (int i = 0; i < length; i++) {
            text.append("ab`\u0080".charAt(random.nextInt(4)));
        }
        return text.toString();
    }
}
