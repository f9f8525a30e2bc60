package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.clickhouse.PendingBlock;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.EventId;
import io.tailrace.event.QueryEvent;
import io.tailrace.flink.clickhouse.InsertResult.Stored;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.LogOrigin;
import io.tailrace.framing.ParseListener;
import io.tailrace.lexer.ByteText;
import io.tailrace.servers.ClickHouseServer;
import io.tailrace.servers.Repository;
import io.tailrace.slowlog.SlowLogFormat;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures what pseudonyms cost: `make bench-pseudonyms`. Entries of a real slow log are framed, parsed, encoded by the
 * operator of the job and compressed to blocks, in rounds with and without keys that alternate in one process. CPU time
 * is that of the thread, without Kafka, Flink's network, compilation and garbage collection. The stored size is that of
 * the blocks of one round in a real ClickHouse.
 */
@Tag("benchmark")
class PseudonymCostIT {

    private static final int ENTRIES = Integer.getInteger("bench.entries", 300_000);
    private static final int ROUNDS = Integer.getInteger("bench.rounds", 3);
    private static final int STORED = Integer.getInteger("bench.stored", 200_000);
    private static final int ENTRIES_OF_CHECKPOINT = 20_000;
    private static final int USERS = 40;
    private static final int CLIENTS = 400;
    private static final int NEVER = Integer.MAX_VALUE;
    private static final int HUNDREDTH = 100;
    private static final int VAULT_KEY_BITS = 3072;
    private static final String TABLE = "tailrace.query_events";
    private static final Path LOG = Repository.root().resolve("samples/mariadb-10.11.19.shop.slow.log");
    private static final LogOrigin ORIGIN = new LogOrigin("shop", "db-1", "slowlog", "auto", "UTC", LOG.toString());

    @TempDir
    Path directory;

    private byte[] log;
    private Optional<PseudonymKeys> keys;

    @BeforeEach
    void read() throws Exception {
        log = Files.readAllBytes(LOG);
        keys = Optional.of(NewPseudonymKeys.in(directory, VAULT_KEY_BITS));
    }

    @Test
    void cpuOfKnownNames() throws Exception {
        measure("all names known", NEVER);
    }

    @Test
    void cpuOfNewClients() throws Exception {
        measure("a new client in each hundredth entry", HUNDREDTH);
    }

    private void measure(String title, int newClientEach) throws Exception {
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round <= ROUNDS; round++) {
            double without = cpuSeconds(Optional.empty(), newClientEach);
            double with = cpuSeconds(keys, newClientEach);
            if (round > 0) {
                ratios.add(with / without);
                System.out.printf(
                        "%s, round %d: %.2f CPU-s per million entries without, %.2f with pseudonyms, %+.1f %%%n",
                        title, round, without, with, 100 * (with / without - 1));
            }
        }
        assertThat(ratios).hasSize(ROUNDS);
    }

    /** Returns the CPU-seconds of a million entries. */
    private double cpuSeconds(Optional<PseudonymKeys> its, int newClientEach) throws Exception {
        long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        Entries entries = new Entries(its, ENTRIES, newClientEach, block -> {});
        entries.run();
        long spent = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before;
        assertThat(entries.rows).isEqualTo(ENTRIES);
        assertThat(entries.names > 0).isEqualTo(its.isPresent());
        return spent / (double) Duration.ofSeconds(1).toNanos() * 1_000_000 / ENTRIES;
    }

    @Test
    void storedBytes() throws Exception {
        Map<Boolean, String> sizes = new HashMap<>();
        for (boolean with : List.of(false, true)) {
            Path home = Files.createDirectory(directory.resolve("clickhouse-" + with));
            try (ClickHouseServer server = ClickHouseServer.start(home)) {
                ClickHouseHttpClient store = new ClickHouseHttpClient(new ClickHouseConnection(
                        server.url(), "writer", server.passwordFile().toString()));
                new Entries(with ? keys : Optional.empty(), STORED, HUNDREDTH, block -> {
                            assertThat(insert(store, block)).isEqualTo(new Stored());
                        })
                        .run();
                server.query("OPTIMIZE TABLE " + TABLE + " FINAL");
                sizes.put(
                        with,
                        server.query(
                                "SELECT table, sum(rows), sum(bytes_on_disk), round(sum(bytes_on_disk) / sum(rows), 1)"
                                        + " FROM system.parts WHERE active AND database = 'tailrace' AND table IN"
                                        + " ('query_events', 'query_load_1m', 'query_classes_1h', 'entities_1d',"
                                        + " 'subject_vault') GROUP BY table ORDER BY table"));
            }
        }
        System.out.printf(
                "table, rows, bytes, bytes per row%nwithout:%n%s%nwith:%n%s%n", sizes.get(false), sizes.get(true));
        assertThat(sizes.get(false)).doesNotContain("subject_vault");
        assertThat(sizes.get(true)).contains("subject_vault");
    }

    private static InsertResult insert(ClickHouseHttpClient store, PendingBlock block) {
        try {
            return store.insert(block);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The path of entries from bytes of a log to compressed blocks. */
    private final class Entries implements FrameListener, ParseListener {

        private final Optional<PseudonymKeys> its;
        private final int wanted;
        private final int newClientEach;
        private final Consumer<PendingBlock> blocks;
        private final SlowLogFormat format = new SlowLogFormat();
        private final EntryParser parser = format.newParser();
        private OneInputStreamOperatorTestHarness<QueryEvent, RowBlock> operator;
        private int rows;
        private int names;
        private long checkpoint;

        Entries(Optional<PseudonymKeys> its, int wanted, int newClientEach, Consumer<PendingBlock> blocks) {
            this.its = its;
            this.wanted = wanted;
            this.newClientEach = newClientEach;
            this.blocks = blocks;
        }

        void run() throws Exception {
            try (var harness = new OneInputStreamOperatorTestHarness<>(
                    new RowBlockOperator<>(TABLE, QueryEvent.class, its), 1, 1, 0)) {
                operator = harness;
                harness.open();
                while (rows < wanted) {
                    frame();
                }
                seal();
            }
        }

        private void frame() {
            var framer = format.newFramer();
            int at = 0;
            while (at < log.length) {
                int end = Math.min(ByteText.lineFeed(log, at, log.length) + 1, log.length);
                at = (int) framer.line(log, at, end, at, this);
            }
            framer.end(this);
        }

        @Override
        public void entry(long from, long to, EntryContext context) {
            if (rows < wanted) {
                parser.parse(new LogEntry(ORIGIN, 1, from, log, (int) from, (int) to, context), this);
            }
        }

        @Override
        public void query(QueryEvent event, String fingerprint, String statement) {
            int number = rows++;
            event.setEventId(new EventId(
                    ByteBuffer.allocate(16).putLong(0, 1).putLong(8, number).array()));
            event.setEventTime(Instant.now());
            event.setUser("application_" + number % USERS);
            int client = number % newClientEach == newClientEach - 1 ? CLIENTS + number : number % CLIENTS;
            event.setHost("");
            event.setIp("10." + (client >> 16) + "." + (client >> 8 & 255) + "." + (client & 255));
            try {
                operator.processElement(event, 0);
                if (rows % ENTRIES_OF_CHECKPOINT == 0) {
                    seal();
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }

        private void seal() throws Exception {
            operator.prepareSnapshotPreBarrier(++checkpoint);
            Map<String, BlockBuilder> built = new HashMap<>();
            for (RowBlock block : operator.extractOutputValues()) {
                built.computeIfAbsent(block.layout(), BlockBuilder::new).add(block);
                names += block.layout().contains(SubjectNames.ARRIVALS) ? block.rows() : 0;
            }
            operator.getOutput().clear();
            built.values().forEach(block -> blocks.accept(block.seal()));
        }

        @Override
        public boolean needsStatement(QueryEvent event) {
            return false;
        }

        @Override
        public void audit(AuditEvent event, String fingerprint, String statement) {}

        @Override
        public void error(ErrorEvent event) {}

        @Override
        public void framing(long from, long to, FramingKind kind) {}

        @Override
        public void rejected(long from, long to, DeadLetterCode code, String message) {}

        @Override
        public void rejected(DeadLetterCode code, String message) {}
    }
}
