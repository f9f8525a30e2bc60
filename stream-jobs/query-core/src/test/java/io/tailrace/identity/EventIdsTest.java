package io.tailrace.identity;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.framing.EntryContext;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.LogOrigin;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EventIdsTest {

    /** Test vectors of the reference implementation, seed 0. */
    @ParameterizedTest
    @CsvSource({
        "'', 00000000000000000000000000000000",
        "hello, cbd8a7b341bd9b025b1e906a48ae1d19",
        "'hello, world', 342fac623a5ebc8e4cdcbc079642414d",
        "'The quick brown fox jumps over the lazy dog', e34bbc7bbc071b6c7a433ca9c49a9347",
    })
    void theHashIsMurmur3(String text, String hash) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        assertThat(HexFormat.of()
                        .formatHex(new Murmur3().update(bytes, 0, bytes.length).digest()))
                .isEqualTo(hash);
    }

    @Test
    void theHashDoesNotDependOnThePieces() {
        byte[] bytes = new byte[1000];
        new Random(1).nextBytes(bytes);
        byte[] whole = new Murmur3().update(bytes, 0, bytes.length).digest();
        for (int piece = 1; piece < 40; piece++) {
            Murmur3 hash = new Murmur3();
            for (int i = 0; i < bytes.length; i += piece) {
                hash.update(bytes, i, Math.min(bytes.length, i + piece));
            }
            assertThat(hash.digest()).isEqualTo(whole);
        }
    }

    @Test
    void lineEndsDoNotChangeTheIdentity() {
        String id = id("db1", "slowlog", 7, "a\nb;\n", 5);
        assertThat(id("db1", "slowlog", 7, "a\r\nb;\r\n", 5)).isEqualTo(id);
        assertThat(id("db1", "slowlog", 7, "a\nb;", 5)).isEqualTo(id);
        assertThat(id).isEqualTo("fee533ec3d6a7f87e38840404598ed46");
    }

    @Test
    void everyOtherInputChangesTheIdentity() {
        assertThat(List.of(
                        id("db1", "slowlog", 7, "a;\n", 5),
                        id("db2", "slowlog", 7, "a;\n", 5),
                        id("db1", "audit", 7, "a;\n", 5),
                        id("db1", "slowlog", 8, "a;\n", 5),
                        id("db1", "slowlog", 7, "b;\n", 5),
                        id("db1", "slowlog", 7, "a\r;\n", 5),
                        id("db1", "slowlog", 7, "a;\n", 6)))
                .doesNotHaveDuplicates();
    }

    private static String id(String instance, String source, long offset, String text, long time) {
        byte[] bytes = ("##" + text).getBytes(StandardCharsets.UTF_8);
        LogOrigin origin = new LogOrigin("c", instance, source, "mysql-slow", "UTC", "/log");
        LogEntry entry = new LogEntry(origin, 1, offset, bytes, 2, bytes.length, EntryContext.NONE);
        return HexFormat.of().formatHex(new EventIds().event(entry, time).bytes());
    }
}
