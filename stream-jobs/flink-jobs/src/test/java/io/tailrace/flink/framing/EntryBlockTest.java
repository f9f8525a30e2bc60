package io.tailrace.flink.framing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.framing.EntryContext;
import io.tailrace.framing.LogOrigin;
import io.tailrace.reassembly.FramedEntry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class EntryBlockTest {

    private final List<EntryBlock> blocks = new ArrayList<>();
    private final EntryBlockWriter writer = new EntryBlockWriter(blocks::add);

    @Test
    void entriesComeBackAsTheyWere() {
        Random random = new Random(1);
        List<FramedEntry> written = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            written.add(entry(random));
        }
        written.forEach(writer::add);
        writer.flush();
        assertThat(blocks).hasSizeGreaterThan(1);
        assertSame(written);
    }

    @Test
    void aFullBlockIsPassedOnAndAnEmptyOneIsNot() {
        writer.flush();
        assertThat(blocks).isEmpty();
        FramedEntry large = entry(new byte[20 * EntryBlockWriter.BLOCK_BYTES], "d");
        writer.add(large);
        assertThat(blocks).hasSize(1);
        writer.flush();
        assertThat(blocks).hasSize(1);
        writer.add(large);
        assertSame(List.of(large, large));
    }

    @Test
    void namesAreWrittenOnce() {
        for (int i = 0; i < 100; i++) {
            writer.add(entry(new byte[100], "shop"));
        }
        writer.flush();
        assertThat(blocks.get(0).bytes().length).isLessThan(100 * 123 + 100);
    }

    /** Compares arrays as a whole: an assertion per byte would take seconds. */
    private void assertSame(List<FramedEntry> written) {
        assertThat(read())
                .usingRecursiveComparison()
                .withEqualsForType(Arrays::equals, byte[].class)
                .isEqualTo(written);
    }

    private List<FramedEntry> read() {
        List<FramedEntry> read = new ArrayList<>();
        blocks.forEach(block -> block.forEach(read::add));
        return read;
    }

    private static FramedEntry entry(Random random) {
        String database = random.nextInt(3) == 0 ? "" : "d\u00e4tab\u00e4se" + random.nextInt(3);
        byte[] bytes = "x".repeat(random.nextInt(800)).getBytes(UTF_8);
        return new FramedEntry(
                new LogOrigin("c", "i" + random.nextInt(2), "slowlog", "mysql-slow", "UTC", "/log"),
                "/log." + random.nextInt(2),
                random.nextLong(),
                random.nextLong(),
                bytes,
                new EntryContext(
                        database,
                        "# Time: " + random.nextInt(5),
                        "account" + random.nextInt(2),
                        random.nextBoolean(),
                        random.nextBoolean(),
                        random.nextBoolean()),
                random.nextBoolean());
    }

    private static FramedEntry entry(byte[] bytes, String database) {
        return new FramedEntry(
                new LogOrigin("c", "i", "slowlog", "mysql-slow", "UTC", "/log"),
                "/l",
                1,
                7,
                bytes,
                new EntryContext(database, "", "", false, false, true),
                false);
    }
}
