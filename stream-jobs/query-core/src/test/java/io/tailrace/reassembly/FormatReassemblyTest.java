package io.tailrace.reassembly;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.LedgerEntry;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.formats.GoldenInputs;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import io.tailrace.reassembly.assignment.LogReassembler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Reassembly finds the format and the entries of a whole file, however a collector splits it into blocks. */
class FormatReassemblyTest {

    private static final String PATH = "/var/log/mysql/db1.log";

    static Stream<LogFormat> formats() {
        return new FormatRegistry().all().stream();
    }

    @ParameterizedTest
    @MethodSource("formats")
    void anySplitIntoBlocksGivesTheSameEntries(LogFormat format) throws IOException {
        for (Path path : GoldenInputs.cases(format)) {
            byte[] file = completeLines(Files.readAllBytes(path.resolve("input.log")));
            Random random = new Random(path.toString().hashCode());
            for (int round = 0; round < 25; round++) {
                check(format, file, random, path.toString());
            }
        }
    }

    /** Collectors do not ship an incomplete line. */
    private static byte[] completeLines(byte[] file) {
        int end = file.length;
        while (end > 0 && file[end - 1] != '\n') {
            end--;
        }
        return Arrays.copyOf(file, end);
    }

    private static void check(LogFormat format, byte[] file, Random random, String name) {
        List<FramedEntry> found = new ArrayList<>();
        List<DeadLetter> refused = new ArrayList<>();
        LogReassembler reassembler = new LogReassembler(
                new LogId("db1", FormatRegistry.sourceOf(format), PATH),
                new FormatRegistry(),
                ReassemblyLimits.defaults(),
                "test",
                new Collected(found, refused));
        int from = 0;
        while (from < file.length) {
            int to = lineEnd(file, Math.min(file.length - 1, from + random.nextInt(1 + random.nextInt(600))));
            reassembler.block(block(format, Arrays.copyOfRange(file, from, to), from), 1_000);
            from = to;
        }
        List<FramedLog.Frame> expected = expected(format, file);
        assertThat(found).as(name).hasSameSizeAs(expected);
        for (int i = 0; i < expected.size(); i++) {
            assertThat(found.get(i).offset()).isEqualTo(expected.get(i).from());
            assertThat(found.get(i).bytes())
                    .hasSize((int) (expected.get(i).to() - expected.get(i).from()));
            assertThat(found.get(i).toLogEntry().context())
                    .isEqualTo(expected.get(i).context());
            assertThat(found.get(i).origin().format()).isEqualTo(format.name());
        }
        assertThat(refused).extracting(DeadLetter::getCode).doesNotContain("UNKNOWN_FORMAT");
    }

    private static int lineEnd(byte[] file, int from) {
        int i = from;
        while (file[i] != '\n') {
            i++;
        }
        return i + 1;
    }

    private static List<FramedLog.Frame> expected(LogFormat format, byte[] file) {
        return FramedLog.ofOpen(format, file).entries();
    }

    private static LineBlock block(LogFormat format, byte[] bytes, int offset) {
        return new LineBlock(
                new FileOrigin("db1", "main", "db1", FormatRegistry.sourceOf(format), "auto", "UTC", PATH),
                offset,
                bytes,
                1_000,
                false,
                0);
    }

    private record Collected(List<FramedEntry> entries, List<DeadLetter> refused) implements ReassemblyOutput {

        @Override
        public void entry(FramedEntry entry) {
            entries.add(entry);
        }

        @Override
        public void posting(LedgerEntry posting) {
            // ReassemblySimulationTest checks the ledger.
        }

        @Override
        public void deadLetter(DeadLetter deadLetter) {
            refused.add(deadLetter);
        }
    }
}
