package io.tailrace.reassembly;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.formats.GoldenInputs;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import io.tailrace.reassembly.assignment.LogReassembler;
import io.tailrace.reassembly.content.HeadHash;
import io.tailrace.testing.PropertyTestBudget;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Lines of a log are lost, their gap is posted, and a backfill ships them. Afterwards the log has the entries of the
 * whole file.
 */
class FilledGapTest {

    private static final String PATH = "/var/log/mysql/db1.log";
    private static final Path GOLDEN = Path.of("src/test/resources/golden");
    private static final int ROUNDS = PropertyTestBudget.of(40, 2_000);
    /** Timeout of a gap, milliseconds. */
    private static final long PATIENCE = 10_000;

    static Stream<LogFormat> formats() {
        return new FormatRegistry().all().stream();
    }

    @ParameterizedTest
    @MethodSource("formats")
    void aFilledGapLeavesTheEntriesOfTheWholeFile(LogFormat format) throws IOException {
        int checked = 0;
        int misread = 0;
        for (Path path : GoldenInputs.cases(format)) {
            byte[] file = Files.readAllBytes(path.resolve("input.log"));
            List<Integer> lines = lineStarts(file);
            Random random = new Random(path.toString().hashCode());
            for (int round = 0; round < ROUNDS && lines.size() > 3; round++) {
                int first = 1 + random.nextInt(lines.size() - 3);
                int last = first + 1 + random.nextInt(Math.min(8, lines.size() - 2 - first));
                Gap gap = new Gap(lines.get(first), lines.get(last), lines.get(lines.size() - 1));
                if (gap.mayBeALineEnd()) {
                    continue;
                }
                if (gap.isMisread(format, file) || !gap.showsWhatItCuts(format, file)) {
                    misread++;
                } else {
                    check(format, file, gap, path.toString());
                    checked++;
                }
            }
        }
        assertThat(checked)
                .as(
                        "gaps in the golden inputs of %s, beside %d misread ones: add cases with more lines",
                        format.name(), misread)
                .isGreaterThanOrEqualTo(10);
    }

    /** MySQL writes a time before each user, so a gap between the two cannot be misread. */
    @Test
    void noGapOfAMySql8SlowLogIsMisread() throws IOException {
        LogFormat format = new FormatRegistry().named("mysql-slow").orElseThrow();
        byte[] file = Files.readAllBytes(GOLDEN.resolve("mysql-slow/mysql-8.0-extra/input.log"));
        List<Integer> lines = lineStarts(file);
        for (int first = 9; first < lines.size() - 2; first++) {
            for (int last = first + 1; last < lines.size() - 1; last++) {
                check(format, file, new Gap(lines.get(first), lines.get(last), lines.get(lines.size() - 1)), "8.0");
            }
        }
    }

    /** The cut record and the next one are on one line, so the gap's effect ends within this line. */
    @Test
    void aRecordThatWasCutAfterAGapIsNoEntryAfterwards() {
        LogFormat format = new FormatRegistry().named("percona-audit-json").orElseThrow();
        String record = "{\"audit_record\":{\"name\":\"Query\",\"timestamp\":\"2026-11-21T02:50:38 UTC\","
                + "\"sqltext\":\"SELECT 1\"}}\n";
        String cut = record.substring(0, record.length() - 8);
        byte[] file = (record.repeat(2) + cut + record.repeat(2)).getBytes(StandardCharsets.UTF_8);
        check(format, file, new Gap(record.length(), 2 * record.length(), file.length), "cut record");
    }

    /** The lost bytes, and the end of the last whole line. */
    private record Gap(int from, int to, int end) {

        /**
         * Returns whether the gap may be a line end: collectors strip carriage returns, so one byte between two lines
         * is one.
         */
        private boolean mayBeALineEnd() {
            return to - from == 1;
        }

        /**
         * Returns whether the gap's effect can be repaired: its bytes prove the entries that were complete before it,
         * or an entry follows it.
         */
        private boolean showsWhatItCuts(LogFormat format, byte[] file) {
            List<Range> withGap = ranges(FramedLog.withHole(format, Arrays.copyOf(file, end), from, to));
            List<Range> filled = ranges(FramedLog.ofOpen(format, Arrays.copyOf(file, to)));
            return withGap.stream().allMatch(entry -> entry.from() < from && filled.contains(entry))
                    || withGap.stream().anyMatch(entry -> entry.from() >= to && entry.to() < end);
        }

        /**
         * Returns whether the text next to the gap resembles an entry and was posted as one: a backfill does not
         * revoke events.
         */
        private boolean isMisread(LogFormat format, byte[] file) {
            byte[] whole = Arrays.copyOf(file, end);
            List<Range> entries = ranges(FramedLog.ofOpen(format, whole));
            return !entries.containsAll(ranges(FramedLog.withHole(format, whole, from, to)));
        }
    }

    /** Returns the start of each line and the end of the last whole line. */
    private static List<Integer> lineStarts(byte[] file) {
        List<Integer> starts = new ArrayList<>(List.of(0));
        for (int i = 0; i < file.length; i++) {
            if (file[i] == '\n') {
                starts.add(i + 1);
            }
        }
        return starts;
    }

    private static void check(LogFormat format, byte[] file, Gap gap, String name) {
        int gapFrom = gap.from();
        int gapTo = gap.to();
        int end = gap.end();
        Collected found = new Collected();
        LogReassembler reassembler = new LogReassembler(
                new LogId("db1", FormatRegistry.sourceOf(format), PATH),
                new FormatRegistry(),
                ReassemblyLimits.defaults().withGapTimeout(PATIENCE),
                "test",
                found);
        reassembler.block(block(format, Arrays.copyOfRange(file, 0, gapFrom), 0, false), 1_000);
        reassembler.census(census(format, file, 1_000), 1_000);
        reassembler.block(block(format, Arrays.copyOfRange(file, gapTo, end), gapTo, false), 1_000);
        reassembler.census(census(format, file, 2_000 + PATIENCE), 2_000 + PATIENCE);
        reassembler.tick(2_000 + PATIENCE);
        assertThat(found.bytes(PostingKind.GAP)).as(name).isEqualTo(gapTo - gapFrom);
        reassembler.block(block(format, Arrays.copyOfRange(file, gapFrom, gapTo), gapFrom, true), 3_000 + PATIENCE);
        reassembler.tick(3_000 + PATIENCE);

        FramedLog expected = FramedLog.ofOpen(format, Arrays.copyOf(file, end));
        String what =
                "entries of the whole file %s, after a backfill of its bytes %d to %d".formatted(name, gapFrom, gapTo);
        assertThat(found.bytes(PostingKind.GAP)).as(what).isZero();
        assertThat(found.entries.stream().sorted().toList()).as(what).isEqualTo(ranges(expected));
    }

    private static List<Range> ranges(FramedLog log) {
        return log.entries().stream()
                .map(frame -> new Range(frame.from(), frame.to()))
                .toList();
    }

    private static LineBlock block(LogFormat format, byte[] bytes, int offset, boolean backfill) {
        String source = FormatRegistry.sourceOf(format);
        FileOrigin origin = new FileOrigin("db1", "main", "db1", source, format.name(), "UTC", PATH);
        return new LineBlock(origin, offset, bytes, 1_000, backfill, backfill ? 1 : 0);
    }

    private static CensusRecord census(LogFormat format, byte[] file, long at) {
        String source = FormatRegistry.sourceOf(format);
        return new CensusRecord(
                new LogId("db1", source, PATH).toKey(),
                "main",
                "db1",
                source,
                PATH,
                1,
                file.length,
                file.length,
                HeadHash.hex(file, file.length),
                at * 1_000);
    }

    /** A byte range of a file. */
    private record Range(long from, long to) implements Comparable<Range> {

        @Override
        public int compareTo(Range other) {
            return Long.compare(from, other.from);
        }
    }

    private static final class Collected implements ReassemblyOutput {

        private final List<Range> entries = new ArrayList<>();
        private final List<LedgerEntry> postings = new ArrayList<>();

        @Override
        public void entry(FramedEntry entry) {
            entries.add(new Range(entry.offset(), entry.offset() + entry.bytes().length));
        }

        @Override
        public void posting(LedgerEntry posting) {
            postings.add(posting);
        }

        @Override
        public void deadLetter(DeadLetter deadLetter) {
            // Entries are compared; a byte of a dead letter is missing in them.
        }

        private long bytes(PostingKind kind) {
            return postings.stream()
                    .filter(posting -> posting.getKind() == kind)
                    .mapToLong(LedgerEntry::getBytes)
                    .sum();
        }
    }
}
