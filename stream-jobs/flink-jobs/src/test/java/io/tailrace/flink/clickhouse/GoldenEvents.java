package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.DeadLetter;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.QueryEvent;
import io.tailrace.flink.framing.EntryBlock;
import io.tailrace.flink.framing.EntryBlockWriter;
import io.tailrace.flink.parsing.AcceptedTimeRange;
import io.tailrace.flink.parsing.ParseOperator;
import io.tailrace.flink.parsing.ParseOutputs;
import io.tailrace.flink.parsing.ParserConfig;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.LogFormat;
import io.tailrace.reassembly.FileOrigin;
import io.tailrace.reassembly.FramedEntry;
import io.tailrace.reassembly.LineBlock;
import io.tailrace.reassembly.LogId;
import io.tailrace.reassembly.ReassemblyLimits;
import io.tailrace.reassembly.ReassemblyOutput;
import io.tailrace.reassembly.assignment.LogReassembler;
import io.tailrace.servers.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.stream.Stream;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

/** The events of all golden inputs of a format, from lines through reassembly and the parse operator. */
record GoldenEvents(List<QueryEvent> queries, List<AuditEvent> audits) {

    private static final AcceptedTimeRange EVER = new AcceptedTimeRange(Duration.ofDays(40_000));

    static GoldenEvents of(LogFormat format) throws Exception {
        return parse(entries(format));
    }

    /** Returns the entries of all fixtures of a format, each read as the log of a separate server. */
    private static List<FramedEntry> entries(LogFormat format) throws IOException {
        Path golden = Repository.module("query-core")
                .resolve("src/test/resources/golden")
                .resolve(format.name());
        String source = FormatRegistry.sourceOf(format);
        String log = '/' + source + ".log";
        List<FramedEntry> entries = new ArrayList<>();
        try (Stream<Path> cases = Files.list(golden)) {
            for (Path path : cases.sorted().toList()) {
                byte[] file = completeLines(Files.readAllBytes(path.resolve("input.log")));
                String instance = path.getFileName().toString();
                LogReassembler reassembler = new LogReassembler(
                        new LogId(instance, source, log),
                        new FormatRegistry(),
                        ReassemblyLimits.defaults(),
                        "test",
                        new Entries(entries));
                reassembler.block(
                        new LineBlock(
                                new FileOrigin(instance, "c", instance, source, "auto", "UTC", log),
                                0,
                                file,
                                1,
                                false,
                                0),
                        1);
            }
        }
        assertThat(entries)
                .isNotEmpty()
                .extracting(entry -> entry.origin().format())
                .containsOnly(format.name());
        return entries;
    }

    private static byte[] completeLines(byte[] file) {
        int end = file.length;
        while (end > 0 && file[end - 1] != '\n') {
            end--;
        }
        return Arrays.copyOf(file, end);
    }

    private record Entries(List<FramedEntry> entries) implements ReassemblyOutput {

        @Override
        public void entry(FramedEntry entry) {
            entries.add(entry);
        }

        @Override
        public void posting(LedgerEntry posting) {
            // The ledger has tests of its own.
        }

        @Override
        public void deadLetter(DeadLetter deadLetter) {
            // Some golden inputs contain invalid records on purpose.
        }
    }

    private static GoldenEvents parse(List<FramedEntry> entries) throws Exception {
        ParserConfig settings = new ParserConfig(FormatRegistry::new, EVER, EVER, EVER, "test");
        try (OneInputStreamOperatorTestHarness<EntryBlock, QueryEvent> operator =
                new OneInputStreamOperatorTestHarness<>(new ParseOperator(settings), 1, 1, 0)) {
            operator.open();
            operator.setProcessingTime(System.currentTimeMillis());
            List<EntryBlock> blocks = new ArrayList<>();
            EntryBlockWriter writer = new EntryBlockWriter(blocks::add);
            entries.forEach(writer::add);
            writer.flush();
            for (EntryBlock block : blocks) {
                operator.processElement(block, 0);
            }
            return new GoldenEvents(
                    operator.extractOutputValues(), auditEvents(operator.getSideOutput(ParseOutputs.AUDIT_EVENTS)));
        }
    }

    private static List<AuditEvent> auditEvents(Queue<StreamRecord<AuditEvent>> records) {
        return records == null
                ? List.of()
                : records.stream().map(StreamRecord::getValue).toList();
    }
}
