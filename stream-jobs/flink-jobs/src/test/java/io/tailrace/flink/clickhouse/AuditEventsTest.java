package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.audit.AuditFormats;
import io.tailrace.clickhouse.PendingBlock;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.DeadLetter;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.QueryEvent;
import io.tailrace.flink.clickhouse.InsertResult.Stored;
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
import io.tailrace.reassembly.LogReassembler;
import io.tailrace.reassembly.ReassemblyLimits;
import io.tailrace.reassembly.ReassemblyOutput;
import io.tailrace.servers.ClickHouseServer;
import io.tailrace.servers.Repository;
import io.tailrace.servers.SharedClickHouse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Processes every audit format from lines through reassembly, parsing and encoding into the real table. */
@Tag("slow")
class AuditEventsTest {

    private static final RowBinaryEncoder EVENTS =
            new RowBinaryEncoder("tailrace.audit_events", AuditEvent.getClassSchema());
    private static final AcceptedTimeRange EVER = new AcceptedTimeRange(Duration.ofDays(40_000));

    @RegisterExtension
    static final SharedClickHouse CLICKHOUSE = new SharedClickHouse();

    @Test
    void everyFormatReachesItsTable() throws Exception {
        Set<String> expected = new HashSet<>();
        ClickHouseServer server = CLICKHOUSE.server();
        ClickHouseHttpClient store = new ClickHouseHttpClient(new ClickHouseConnection(
                server.url(), "writer", server.passwordFile().toString()));
        for (LogFormat format : AuditFormats.all()) {
            List<AuditEvent> events = parse(entries(format));
            assertThat(store.insert(block(events))).isEqualTo(new Stored());
            expected.add(format.name() + '\t' + events.size());
        }
        String counts = server.query("SELECT format, count() FROM tailrace.audit_events GROUP BY 1");
        assertThat(counts.split("\n")).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(server.query("SELECT user, priv_user, proxy_user, os_user, ip, connection_type, program_name,"
                        + " connection_attributes['_pid'] FROM tailrace.audit_events"
                        + " WHERE format = 'mysql-enterprise-audit-json' AND event_class = 'connection'"))
                .isEqualTo("app\tapp_rw\tdev\tjeffrey\t::1\ttls\tmysqladmin\t43236");
        assertThat(server.query("SELECT tables_read, tables_written, command_class FROM tailrace.audit_events"
                        + " WHERE format = 'mcafee-audit-json' AND command_class = 'insert_select'"))
                .isEqualTo("['shop.t1']\t['shop.t2']\tinsert_select");
        assertThat(server.query("SELECT DISTINCT server_version FROM tailrace.audit_events"
                        + " WHERE format = 'percona-audit-csv' AND event_class = 'server'"))
                .isEqualTo("5.7.20-18-18-log");
    }

    /** Returns the entries of all fixtures of a format, each read as the log of a separate server. */
    private static List<FramedEntry> entries(LogFormat format) throws IOException {
        Path golden = Repository.module("query-core")
                .resolve("src/test/resources/golden")
                .resolve(format.name());
        List<FramedEntry> entries = new ArrayList<>();
        try (Stream<Path> cases = Files.list(golden)) {
            for (Path path : cases.sorted().toList()) {
                byte[] file = completeLines(Files.readAllBytes(path.resolve("input.log")));
                String instance = path.getFileName().toString();
                LogReassembler reassembler = new LogReassembler(
                        new LogId(instance, "audit", "/audit.log"),
                        new FormatRegistry(),
                        ReassemblyLimits.defaults(),
                        "test",
                        new Entries(entries));
                reassembler.block(
                        new LineBlock(
                                new FileOrigin(instance, "c", instance, "audit", "auto", "UTC", "/audit.log"),
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
            // This test does not check the ledger.
        }

        @Override
        public void deadLetter(DeadLetter deadLetter) {
            // It does not check the fixtures' invalid records either.
        }
    }

    private static List<AuditEvent> parse(List<FramedEntry> entries) throws Exception {
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
            assertThat(operator.extractOutputValues()).isEmpty();
            return operator.getSideOutput(ParseOutputs.AUDIT_EVENTS).stream()
                    .map(record -> record.getValue())
                    .toList();
        }
    }

    /** Returns the events as rows of today, because the table deletes older ones. */
    private static PendingBlock block(List<AuditEvent> events) {
        RowBinaryBuffer rows = new RowBinaryBuffer(1 << 16);
        for (AuditEvent event : events) {
            event.setEventTime(Rows.TODAY);
            EVENTS.encode(event, 1, rows);
        }
        String layout = EVENTS.layout().text();
        BlockBuilder block = new BlockBuilder(layout);
        block.add(new RowBlock(layout, EVENTS.day(events.get(0)), events.size(), rows.toByteArray()));
        return block.seal();
    }
}
