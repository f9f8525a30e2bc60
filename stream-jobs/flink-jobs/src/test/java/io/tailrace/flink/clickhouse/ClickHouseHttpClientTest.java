package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.clickhouse.PendingBlock;
import io.tailrace.event.DeadLetter;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.QueryEvent;
import io.tailrace.flink.clickhouse.InsertResult.Refused;
import io.tailrace.flink.clickhouse.InsertResult.Stored;
import io.tailrace.flink.clickhouse.InsertResult.Unavailable;
import io.tailrace.servers.Await;
import io.tailrace.servers.ClickHouseServer;
import io.tailrace.servers.SharedClickHouse;
import java.net.URI;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs against a real ClickHouse with the real tables, as the user with the privilege INSERT only. */
@Tag("slow")
class ClickHouseHttpClientTest {

    private static final RowBinaryEncoder LEDGER =
            new RowBinaryEncoder("tailrace.ledger", LedgerEntry.getClassSchema());
    private static final RowBinaryEncoder EVENTS =
            new RowBinaryEncoder("tailrace.query_events", QueryEvent.getClassSchema());

    /** Each of the simultaneous inserts may exceed the timeout of a request on a busy machine. */
    private static final Duration SOON = Duration.ofMinutes(10);

    @RegisterExtension
    static final SharedClickHouse CLICKHOUSE = new SharedClickHouse();

    private static ClickHouseServer server;
    private static ClickHouseHttpClient store;

    @BeforeAll
    static void start() throws Exception {
        server = CLICKHOUSE.server();
        store = store("writer");
    }

    private static ClickHouseHttpClient store(String user) throws Exception {
        return new ClickHouseHttpClient(new ClickHouseConnection(
                server.url(), user, server.passwordFile().toString()));
    }

    @Test
    void everyColumnArrivesAsItWasSent() throws Exception {
        assertThat(store.insert(events(1, 1))).isEqualTo(new Stored());
        String row =
                server.query("SELECT event_id, user, query_id, query_time, rows_examined, rows_affected, bytes_sent,"
                        + " plan_flags, attributes, toString(event_time) LIKE '%.123456', after_checkpoint"
                        + " FROM tailrace.query_events WHERE rows_examined = 1 FORMAT TSVRaw");
        assertThat(row)
                .isEqualTo("01020304-0506-0708-0000-000000000001\tZoë\t18446744073709551615\t0.25\t1\t\\N\t7\t"
                        + "['full_scan','filesort']\t{'Bytes_received':'12'}\t1\t42");
    }

    @Test
    void aBlockIsStoredOnceHoweverOftenItIsPosted() throws Exception {
        PendingBlock block = postings(1000, 500);
        for (int i = 0; i < 3; i++) {
            assertThat(store.insert(block)).isEqualTo(new Stored());
        }
        assertThat(postings(1000)).isEqualTo(500);
    }

    @Test
    void aBlockIsStoredOnceWhenTwoPostAtTheSameTime() throws Exception {
        PendingBlock block = events(100_000, 200_000);
        ExecutorService threads = Executors.newFixedThreadPool(3);
        List<Future<InsertResult>> outcomes = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            outcomes.add(threads.submit(() -> store("writer").insert(block)));
        }
        for (Future<InsertResult> outcome : outcomes) {
            assertThat(outcome.get()).isInstanceOfAny(Stored.class, Unavailable.class);
        }
        threads.shutdown();
        Await.until("the block to be stored", SOON, () -> store.insert(block).equals(new Stored()));
        assertThat(server.count("SELECT count() FROM tailrace.query_events WHERE rows_examined >= 100000"))
                .isEqualTo(200_000);
        assertThat(server.count("SELECT sum(rows) FROM tailrace.receipts WHERE kind = 'EVENT' AND rows > 1000"))
                .isEqualTo(200_000);
    }

    @Test
    void dataThatViolatesAConstraintIsRefusedWithoutShowingIt() throws Exception {
        server.query("CREATE TABLE tailrace.strict (id UInt64, after_checkpoint UInt64, CONSTRAINT small CHECK id < 5)"
                + " ENGINE = MergeTree ORDER BY id");
        RowLayout layout = RowLayout.parse("tailrace.strict\nid UInt64\nafter_checkpoint UInt64");
        RowBinaryBuffer row = new RowBinaryBuffer(16);
        row.writeLong(77_777);
        row.writeLong(0);
        BlockBuilder block = new BlockBuilder(layout.text());
        block.add(new RowBlock(layout.text(), 0, 1, row.toByteArray()));
        InsertResult outcome = store("admin").insert(block.seal());
        assertThat(outcome).isEqualTo(new Refused("tailrace.strict: code 469 VIOLATED_CONSTRAINT"));
    }

    /** The response to each must have the text by which {@link InsertErrors} recognizes the parser. */
    @Test
    void aBlockThatTheServerCannotParseIsRefused() throws Exception {
        server.query("CREATE TABLE tailrace.parsed (texts Array(String), after_checkpoint UInt64)"
                + " ENGINE = MergeTree ORDER BY after_checkpoint");
        byte[] hugeLength = {-1, -1, -1, -1, -1, -1, 127};
        assertThat(insertRaw(new byte[] {1, 5, 'c', 'u', 't'})).isEqualTo("code 33 CANNOT_READ_ALL_DATA");
        assertThat(insertRaw(hugeLength)).isEqualTo("code 128 TOO_LARGE_ARRAY_SIZE");
        assertThat(insertRaw(concat(new byte[] {1}, hugeLength))).isEqualTo("code 131 TOO_LARGE_STRING_SIZE");
        assertThat(server.count("SELECT count() FROM tailrace.parsed")).isZero();
    }

    private String insertRaw(byte[] row) throws Exception {
        RowLayout layout = RowLayout.parse("tailrace.parsed\ntexts Array(String)\nafter_checkpoint UInt64");
        BlockBuilder block = new BlockBuilder(layout.text());
        block.add(new RowBlock(layout.text(), 0, 1, row));
        InsertResult result = store("admin").insert(block.seal());
        assertThat(result).isInstanceOf(Refused.class);
        return ((Refused) result).reason().replace("tailrace.parsed: ", "");
    }

    private static byte[] concat(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    @Test
    void anEventThatIsRefusedIsPostedAsADeadLetterOfItsFile() throws Exception {
        RowBinaryBuffer row = new RowBinaryBuffer(1024);
        EVENTS.encode(Rows.event(7000), 42, row);
        PendingBlock event = sealed(EVENTS, 1, row);
        RefusedRowConverter quarantine = new RefusedRowConverter("tailrace", Clock.systemUTC(), "test");
        for (RowBlock rows : quarantine.convertToDeadLetters(event, "tailrace.query_events: code 469", 3)) {
            assertThat(store.insert(sealed(rows))).isEqualTo(new Stored());
        }
        assertThat(server.query("SELECT instance, source, log, generation, entry_offset, entry_bytes, code,"
                        + " lower(hex(MD5(raw))), after_checkpoint FROM tailrace.dead_letters"
                        + " WHERE stage = 'SINK' AND entry_offset = 7000"))
                .isEqualTo("db-1\tslowlog\t/slow.log\t1\t7000\t1\tREFUSED_BY_STORE\t" + md5(row.toByteArray()) + "\t3");
        assertThat(server.query("SELECT stage, kind, detail, sum(count), sum(bytes) FROM tailrace.ledger"
                        + " WHERE from_offset = 7000 AND kind != 'ENTRY' GROUP BY ALL ORDER BY stage"))
                .isEqualTo("PARSER\tEVENT\t\t-1\t-1\nSINK\tDEAD_LETTER\tREFUSED_BY_STORE\t1\t1");
    }

    @Test
    void aDeadLetterThatIsRefusedIsStoredWithoutItsBytes() throws Exception {
        RowBinaryEncoder letters = new RowBinaryEncoder("tailrace.dead_letters", DeadLetter.getClassSchema());
        RowBinaryBuffer row = new RowBinaryBuffer(1024);
        letters.encode(Rows.deadLetter(8000), 42, row);
        RefusedRowConverter quarantine = new RefusedRowConverter("tailrace", Clock.systemUTC(), "test");
        List<RowBlock> instead = quarantine.convertToDeadLetters(sealed(letters, 1, row), "any reason", 3);
        assertThat(instead).hasSize(1);
        assertThat(store.insert(sealed(instead.get(0)))).isEqualTo(new Stored());
        assertThat(server.query("SELECT dead_letter_id, instance, stage, code, entry_bytes, raw, superseded"
                        + " FROM tailrace.dead_letters WHERE entry_offset = 8000"))
                .isEqualTo("01020304-0506-0708-0000-000000001f40\tdb-1\tPARSER\tBAD_HEADER\t12\t\ttrue");
    }

    private static String md5(byte[] bytes) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(bytes));
    }

    @Test
    void aTableOfAnotherShapeIsNoFaultOfTheData() throws Exception {
        server.query(
                "CREATE TABLE tailrace.narrow (id UInt32, after_checkpoint UInt64) ENGINE = MergeTree ORDER BY id");
        BlockBuilder block = new BlockBuilder("tailrace.narrow\nid UInt64\nafter_checkpoint UInt64");
        block.add(new RowBlock("", 0, 1, new byte[16]));
        assertThat(store("admin").insert(block.seal()))
                .isEqualTo(new Unavailable(
                        "tailrace.narrow.id must be UInt64 and is UInt32: are all migrations applied?"));
    }

    @Test
    void aMissingTableIsNoFaultOfTheData() throws Exception {
        BlockBuilder block = new BlockBuilder("tailrace.nowhere\nid UInt64");
        block.add(new RowBlock("", 0, 1, new byte[8]));
        assertThat(store.insert(block.seal())).isInstanceOf(Unavailable.class);
    }

    @Test
    void aWrongPasswordIsReportedWithWhatToCheck() throws Exception {
        ClickHouseHttpClient stranger = new ClickHouseHttpClient(new ClickHouseConnection(server.url(), "writer", ""));
        assertThat(stranger.insert(postings(5000, 1)))
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.type(Unavailable.class))
                .extracting(Unavailable::reason)
                .asString()
                .contains("does not accept user writer")
                .contains("clickhouse.password-file");
    }

    @Test
    void anUnavailableServerIsRetried() throws Exception {
        ClickHouseHttpClient away =
                new ClickHouseHttpClient(new ClickHouseConnection(URI.create("http://127.0.0.1:1"), "writer", ""));
        assertThat(away.insert(postings(6000, 1))).isInstanceOf(Unavailable.class);
    }

    @Test
    void whatOneShardRefusedAnotherMayHaveStored() throws Exception {
        server.query("CREATE TABLE tailrace.of_a_shard (id UInt64, CONSTRAINT is_large CHECK id > 5)"
                + " ENGINE = MergeTree ORDER BY id");
        server.query("CREATE TABLE tailrace.of_another_shard AS remote('127.0.0.1:" + server.nativePort()
                + "', tailrace, of_a_shard, 'admin', '" + ClickHouseServer.PASSWORD + "')");
        ClickHouseHttpClient admins = store("admin");
        assertThat(admins.insert(tooSmall("tailrace.of_a_shard"))).isInstanceOf(Refused.class);
        assertThat(admins.insert(tooSmall("tailrace.of_another_shard"))).isInstanceOf(Unavailable.class);
    }

    @Test
    void whatTheAskedServerRefusedAsAShardAnotherMayHaveStored() throws Exception {
        server.query("CREATE DATABASE tailrace_shard");
        server.query("CREATE TABLE tailrace_shard.own (id UInt64, CONSTRAINT is_large CHECK id > 5)"
                + " ENGINE = MergeTree ORDER BY id");
        assertThat(store("admin").insert(tooSmall("tailrace_shard.own"))).isInstanceOf(Unavailable.class);
    }

    @Test
    void whatAViewRefusedItsTableMayHaveStored() throws Exception {
        server.query("CREATE TABLE tailrace.viewed (id UInt64) ENGINE = MergeTree ORDER BY id");
        server.query("CREATE TABLE tailrace.seen (id UInt64, CONSTRAINT is_large CHECK id > 5)"
                + " ENGINE = MergeTree ORDER BY id");
        server.query("CREATE MATERIALIZED VIEW tailrace.view TO tailrace.seen AS SELECT id FROM tailrace.viewed");
        assertThat(store("admin").insert(tooSmall("tailrace.viewed"))).isInstanceOf(Unavailable.class);
    }

    private static PendingBlock tooSmall(String table) throws Exception {
        BlockBuilder block = new BlockBuilder(table + "\nid UInt64");
        block.add(new RowBlock("", 0, 1, new byte[8]));
        return block.seal();
    }

    private static long postings(long from) throws Exception {
        return server.count(
                "SELECT count() FROM tailrace.ledger WHERE from_offset BETWEEN " + from + " AND " + (from + 999));
    }

    private static PendingBlock postings(long from, int count) {
        RowBinaryBuffer out = new RowBinaryBuffer(1024);
        for (int i = 0; i < count; i++) {
            LEDGER.encode(Rows.posting(from + i), 42, out);
        }
        return sealed(LEDGER, count, out);
    }

    private static PendingBlock events(long from, int count) {
        RowBinaryBuffer out = new RowBinaryBuffer(1024);
        for (int i = 0; i < count; i++) {
            EVENTS.encode(Rows.event(from + i), 42, out);
        }
        return sealed(EVENTS, count, out);
    }

    private static PendingBlock sealed(RowBinaryEncoder encoder, int count, RowBinaryBuffer rows) {
        return sealed(new RowBlock(encoder.layout().text(), 0, count, rows.toByteArray()));
    }

    private static PendingBlock sealed(RowBlock rows) {
        BlockBuilder block = new BlockBuilder(rows.layout());
        block.add(rows);
        return block.seal();
    }
}
