package io.tailrace.cli.input;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StatementSplitterTest {

    private static List<String> read(String text, int limit) throws IOException {
        ByteArrayInputStream in = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)) {
            @Override
            public synchronized int read(byte[] target, int from, int length) {
                return super.read(target, from, Math.min(length, limit));
            }
        };
        List<String> statements = new ArrayList<>();
        new StatementSplitter(in, (byte) '\n')
                .read((bytes, from, to) -> statements.add(new String(bytes, from, to - from, StandardCharsets.UTF_8)));
        return statements;
    }

    @Test
    void theResultDoesNotDependOnTheChunks() throws IOException {
        String large = "x".repeat(200_000);
        for (int limit : new int[] {1, 2, 7, 1_000_000}) {
            assertThat(read("a\n\nbc\n" + large + "\nlast", limit)).containsExactly("a", "", "bc", large, "last");
        }
        assertThat(read("", 5)).isEmpty();
        assertThat(read("a\n", 5)).containsExactly("a");
    }
}
