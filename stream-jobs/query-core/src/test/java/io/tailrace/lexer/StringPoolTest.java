package io.tailrace.lexer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StringPoolTest {

    private final StringPool pool = new StringPool();

    @Test
    void aShortTextThatRecursIsTheSameString() {
        for (String text : new String[] {"", "a", "root", "ü", "x".repeat(96)}) {
            assertThat(read(text)).isEqualTo(text).isSameAs(read(text));
        }
    }

    /** The memory of a pool is bounded. */
    @Test
    void aLongTextIsNotKept() {
        String text = "x".repeat(97);
        assertThat(read(text)).isEqualTo(text).isNotSameAs(read(text));
    }

    @Test
    void textsWithTheSameSlotAreDifferent() {
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 10_000; i++) {
                assertThat(read("user" + i)).isEqualTo("user" + i);
            }
        }
    }

    /** Each log that is being read has pools. */
    @Test
    void fewTextsTakeFewSlotsAndManyTextsAreStillKept() {
        for (int i = 0; i < 1_000; i++) {
            read("name" + i % 10);
        }
        assertThat(pool.slots()).isLessThanOrEqualTo(512);
        for (int i = 0; i < 100_000; i++) {
            read("user" + i % 1_000);
        }
        assertThat(pool.slots()).isGreaterThanOrEqualTo(1_024).isLessThanOrEqualTo(4_096);
        for (int i = 0; i < 100_000; i++) {
            read("user" + i);
        }
        assertThat(pool.slots()).isEqualTo(4_096);
    }

    private String read(String text) {
        byte[] bytes = ByteText.bytes("x" + text + "x");
        return pool.utf8(bytes, 1, bytes.length - 1);
    }
}
