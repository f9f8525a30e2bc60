package io.tailrace.lexer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WordTableTest {

    private enum Kind {
        TABLE,
        VIEW,
        OTHER
    }

    /** So many words that several have the same slot, and that the last slots are in use. */
    @Test
    void everyWordHasItsValue() {
        Map<String, Integer> values = new HashMap<>();
        for (int i = 0; i < 3_000; i++) {
            values.put("word" + i, i);
        }
        WordTable<Integer> exact = WordTable.of(values);
        WordTable<Integer> anyCase = WordTable.ofAnyCase(values);

        values.forEach((word, value) -> {
            String upper = word.toUpperCase(Locale.ROOT);
            assertThat(get(exact, word)).isEqualTo(value);
            assertThat(get(exact, upper)).isNull();
            assertThat(get(anyCase, word)).isEqualTo(value);
            assertThat(get(anyCase, upper)).isEqualTo(value);
        });
        for (int i = 3_000; i < 9_000; i++) {
            assertThat(get(exact, "word" + i)).isNull();
            assertThat(get(anyCase, "word" + i)).isNull();
        }
    }

    @Test
    void aTableOfOneWordFindsTheEndOfASearch() {
        WordTable<Integer> table = WordTable.of(Map.of("word", 1));
        for (int i = 0; i < 20; i++) {
            assertThat(get(table, "word" + i)).isNull();
        }
        assertThat(get(table, "word")).isEqualTo(1);
    }

    @Test
    void theNamesOfAnEnumAreWordsWithoutTheOneForOthers() {
        WordTable<Kind> table = WordTable.ofNames(Kind.values(), Kind.OTHER);
        assertThat(get(table, "table")).isEqualTo(Kind.TABLE);
        assertThat(get(table, "View")).isEqualTo(Kind.VIEW);
        assertThat(get(table, "other")).isNull();
    }

    private static <V> V get(WordTable<V> table, String word) {
        byte[] bytes = ByteText.ascii("x" + word + "x");
        return table.get(bytes, 1, bytes.length - 1);
    }
}
