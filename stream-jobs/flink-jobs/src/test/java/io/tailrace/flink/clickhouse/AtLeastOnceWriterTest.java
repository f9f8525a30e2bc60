package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.clickhouse.PendingBlock;
import io.tailrace.event.DataAccess;
import io.tailrace.event.EventId;
import io.tailrace.pseudonym.Pseudonyms;
import io.tailrace.pseudonym.SubjectKind;
import io.tailrace.servers.Await;
import io.tailrace.servers.ClickHouseServer;
import io.tailrace.servers.SharedClickHouse;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.avro.specific.SpecificData;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessage;
import org.apache.flink.streaming.runtime.operators.sink.SinkWriterOperatorFactory;
import org.apache.flink.streaming.runtime.tasks.mailbox.Mail;
import org.apache.flink.streaming.runtime.tasks.mailbox.TaskMailbox;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Runs against a real ClickHouse with the real tables, as the user with the privilege INSERT only. */
@Tag("slow")
class AtLeastOnceWriterTest {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Instant NOW = Instant.now();

    @RegisterExtension
    static final SharedClickHouse CLICKHOUSE = new SharedClickHouse();

    private static ClickHouseServer server;

    @TempDir
    Path directory;

    private OneInputStreamOperatorTestHarness<DataAccess, CommittableMessage<Void>> writer;

    @BeforeAll
    static void findServer() {
        server = CLICKHOUSE.server();
    }

    @BeforeEach
    void start() throws Exception {
        server.query("TRUNCATE TABLE tailrace.data_access");
        writer = writer(null);
    }

    @Test
    void namesGoToTheVaultAndRowsContainTheirPseudonyms() throws Exception {
        ClickHouseConnection address = new ClickHouseConnection(
                server.url(), "writer", server.passwordFile().toString());
        Optional<PseudonymKeys> keys = Optional.of(NewPseudonymKeys.in(directory));
        writer.close();
        writer = new OneInputStreamOperatorTestHarness<>(
                new SinkWriterOperatorFactory<>(
                        new AtLeastOnceSink<>(address, "tailrace", "data_access", DataAccess.class, "1", keys)),
                1,
                1,
                0);
        writer.open();
        write(0, 10);
        String pseudonym = new Pseudonyms(NewPseudonymKeys.KEY).of(SubjectKind.USER, "app");
        await("rows", () -> rows() == 10);
        await("the name", () -> server.count("SELECT count() FROM tailrace.subject_vault FINAL") == 1);
        assertThat(server.query("SELECT DISTINCT user FROM tailrace.data_access"))
                .isEqualTo(pseudonym);
        assertThat(server.query("SELECT pseudonym, kind, length(base64Decode(wrapped_key)),"
                        + " length(base64Decode(sealed_name)) FROM tailrace.subject_vault"))
                .isEqualTo(pseudonym + "\tuser\t256\t" + (12 + "app".length() + 16));
    }

    @AfterEach
    void stop() throws Exception {
        writer.close();
    }

    /** @param state null: without state */
    private static OneInputStreamOperatorTestHarness<DataAccess, CommittableMessage<Void>> writer(
            OperatorSubtaskState state) throws Exception {
        ClickHouseConnection address = new ClickHouseConnection(
                server.url(), "writer", server.passwordFile().toString());
        AtLeastOnceSink<DataAccess> sink =
                new AtLeastOnceSink<>(address, "tailrace", "data_access", DataAccess.class, "1");
        var writer = new OneInputStreamOperatorTestHarness<DataAccess, CommittableMessage<Void>>(
                new SinkWriterOperatorFactory<>(sink), 1, 1, 0);
        if (state != null) {
            writer.initializeState(state);
        }
        writer.open();
        return writer;
    }

    @Test
    @Timeout(300)
    void whatComesDuringAnOutageIsThereAfterItAndNoCheckpointWaitsForIt() throws Exception {
        write(0, 10);
        await("first rows", () -> rows() == 10);
        server.kill();
        try {
            write(10, 60_000);
            runMails();
            writer.snapshot(1, 1); // would wait until the timeout: the server is started after it
            write(60_000, 60_100);
        } finally {
            server.launch();
        }
        await("rows of the outage", () -> rows() == 60_100);
    }

    /** Simulates kill -9 of the job: only its checkpoint remains. */
    @Test
    void rowsOfACheckpointAreInsertedAfterARestore() throws Exception {
        server.kill();
        OperatorSubtaskState checkpoint;
        try {
            write(0, 500);
            checkpoint = writer.snapshot(1, 1);
            writer.close();
        } finally {
            server.launch();
        }
        writer = writer(checkpoint);
        await("rows of the checkpoint", () -> rows() == 500);
    }

    @Test
    void onlyTheRowThatIsRefusedIsLeftOutAndItIsADeadLetter() throws Exception {
        server.query("ALTER TABLE tailrace.data_access ADD CONSTRAINT no_poison CHECK user != 'poison'");
        String letters = "stage = 'SINK' AND code = 'REFUSED_BY_STORE'";
        String postings = "stage = 'SINK' AND kind = 'DEAD_LETTER'";
        long lettersBefore = refused("dead_letters", letters);
        long postingsBefore = refused("ledger", postings);
        try {
            for (int i = 0; i < 1_000; i++) {
                writer.processElement(access(i, NOW, i == 700 ? "poison" : "app"), 0);
            }
            await("all others", () -> rows() == 999);
            await("a dead letter", () -> refused("dead_letters", letters) == lettersBefore + 1);
            await("its posting", () -> refused("ledger", postings) == postingsBefore + 1);
            assertThat(refused("dead_letters", "position(raw, 'poison') > 0 AND after_checkpoint = 0"))
                    .isEqualTo(1);
        } finally {
            server.query("ALTER TABLE tailrace.data_access DROP CONSTRAINT no_poison");
        }
    }

    @Test
    void rowsOfMoreMonthsThanAnInsertMayHaveAreAllStored() throws Exception {
        for (int month = 0; month < 110; month++) {
            Instant time = NOW.atOffset(ZoneOffset.UTC).plusMonths(month).toInstant();
            writer.processElement(access(month, time, "app"), 0);
        }
        await("rows of all months", () -> rows() == 110);
    }

    @Test
    void rowsThatWaitAreInsertedAsWhatTheyWereEncodedAs() throws Exception {
        String older = "tailrace.data_access\nevent_id UUID\nevent_time DateTime64(6, 'UTC')\nuser String";
        RowBinaryBuffer row = new RowBinaryBuffer(64);
        row.writeLong(1);
        row.writeLong(2);
        row.writeLong(NOW.toEpochMilli() * 1000);
        row.writeString("upgraded");
        BlockBuilder block = new BlockBuilder(older);
        block.add(new RowBlock(older, 0, 1, row.toByteArray()));
        PendingBlockSerializer serializer = new PendingBlockSerializer("none");
        PendingBlock restored = serializer.deserialize(2, serializer.serialize(block.seal()));
        ClickHouseConnection address = new ClickHouseConnection(
                server.url(), "writer", server.passwordFile().toString());
        assertThat(new ClickHouseHttpClient(address).insert(restored)).isEqualTo(new InsertResult.Stored());
        assertThat(server.query("SELECT user FROM tailrace.data_access")).isEqualTo("upgraded");
    }

    @Test
    void rowsThatAnOlderVersionLeftInItsStateAreStillKnown() throws Exception {
        RowBinaryEncoder encoder = RowBinaryEncoder.atOnce(
                "tailrace.data_access", SpecificData.get().getSchema(DataAccess.class));
        RowBinaryBuffer row = new RowBinaryBuffer(64);
        encoder.encode(access(1, NOW, "app"), row);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream state = new DataOutputStream(bytes);
        state.writeLong(-1);
        state.writeInt(2);
        for (int i = 0; i < 2; i++) {
            state.writeLong(row.size());
            state.write(row.toByteArray());
        }
        String layout = encoder.layout().text();
        PendingBlock block = new PendingBlockSerializer(layout).deserialize(1, bytes.toByteArray());
        assertThat(block.layout()).isEqualTo(layout);
        assertThat(block.rows()).isEqualTo(2);
        assertThat(BlockBuilder.rowsOf(block)).startsWith(row.toByteArray()).endsWith(row.toByteArray());
    }

    private void write(int from, int to) throws Exception {
        for (int i = from; i < to; i++) {
            writer.processElement(access(i, NOW, "app"), 0);
            if (i % 1_000 == 0) {
                runMails();
            }
        }
    }

    private static DataAccess access(int number, Instant time, String user) {
        DataAccess access = new DataAccess();
        SpecificData.get().getSchema(DataAccess.class).getFields().stream()
                .filter(field -> field.schema().getType() == org.apache.avro.Schema.Type.STRING)
                .forEach(field -> access.put(field.pos(), ""));
        access.setEventId(
                new EventId(ByteBuffer.allocate(16).putLong(1).putLong(number).array()));
        access.setEventTime(time);
        access.setUser(user);
        access.setTables(List.of("shop.cards"));
        access.setDataClass(List.of("pci"));
        access.setDataClassRead(List.of("pci"));
        access.setDataClassWritten(List.of());
        access.setBasis(List.of("statement"));
        return access;
    }

    private static long rows() throws Exception {
        return server.count("SELECT count() FROM tailrace.data_access FINAL");
    }

    private static long refused(String table, String condition) throws Exception {
        return server.count("SELECT count() FROM tailrace." + table + " WHERE " + condition);
    }

    private void await(String what, Callable<Boolean> condition) throws Exception {
        Await.until(what, SOON, () -> {
            runMails();
            return condition.call();
        });
    }

    /** Advances the clock, and runs the callbacks of the writer's thread. */
    private void runMails() throws Exception {
        writer.setProcessingTime(System.currentTimeMillis());
        TaskMailbox mailbox = writer.getTaskMailbox();
        for (Optional<Mail> mail = mailbox.tryTake(0); mail.isPresent(); mail = mailbox.tryTake(0)) {
            mail.get().run();
        }
    }
}
