package io.tailrace.flink.normalize;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.servers.Checkpoints;
import io.tailrace.servers.ClickHouseServer;
import io.tailrace.servers.JavaProgram;
import io.tailrace.servers.KafkaServer;
import io.tailrace.servers.Repository;
import io.tailrace.servers.SharedClickHouse;
import io.tailrace.servers.SharedKafka;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the job in a separate process, between a real Kafka and a real ClickHouse, and kills all of them on the way.
 */
class NormalizeJobIT {

    /** Longer than Kafka's clients wait for a broker that does not respond, so that their errors appear first. */
    private static final Duration TIMEOUT = Duration.ofSeconds(300);

    /** Several intervals between checkpoints of a job that reads. */
    private static final Duration PAUSE = Duration.ofSeconds(3);

    @TempDir
    static Path directory;

    @RegisterExtension
    static final SharedClickHouse CLICKHOUSE = new SharedClickHouse();

    @RegisterExtension
    static final SharedKafka KAFKA = new SharedKafka();

    private static KafkaServer kafka;
    private static ClickHouseServer clickHouse;

    @BeforeAll
    static void findServers() {
        clickHouse = CLICKHOUSE.server();
        kafka = KAFKA.server();
    }

    @Test
    void everyEntryIsStoredOnceThoughJobAndStoreAreKilled() throws Exception {
        try (SlowLogFile log = new SlowLogFile(kafka.address(), "/var/log/slow.log")) {
            SignedLog signed = new SignedLog(log, "/var/log/slow.log");
            try (JavaProgram job = job()) {
                log.append(3000);
                awaitEvents(job, 1);
                signed.sign();
                log.append(3000);
                job.kill();
            }
            try (JavaProgram job = job()) {
                awaitEvents(job, 6000);
                clickHouse.kill();
                log.append(3000);
                signed.sign();
                job.await("a checkpoint during the outage", TIMEOUT, Checkpoints.another(checkpoints()));
                job.kill();
            }
            clickHouse.launch();
            try (JavaProgram job = job()) {
                signed.sign();
                log.append(1000);
                signed.sign();
                signed.signOtherBytes();
                awaitEvents(job, log.entries());
                job.await("framer postings", TIMEOUT, () -> posted("ENTRY") == log.entries());
                job.await("parser postings", TIMEOUT, () -> posted("EVENT") == log.entries());
                job.await("receipts", TIMEOUT, () -> received() == log.entries());
                job.await("signed ranges", TIMEOUT, () -> signedRanges("") == signed.records());
                assertThat(job.isAlive()).isTrue();
            }
            assertEverythingOnce(log);
            assertThat(signedRanges("WHERE status = 'verified' AND closed")).isEqualTo(signed.closed());
            assertThat(signedRanges("WHERE status = 'mismatch'")).isEqualTo(1);
            assertThat(
                            signedRanges(
                                    "WHERE status NOT IN ('verified', 'mismatch') AND NOT (status = 'superseded' AND NOT closed)"))
                    .isZero();
        }
    }

    /** The interval of an idle job is an hour here: only the usual interval after a record makes rows visible. */
    @Test
    void aLineAfterAPauseIsStoredAfterTheUsualInterval() throws Exception {
        try (SlowLogFile log = new SlowLogFile(kafka.address(), "/var/log/after-a-pause.log");
                JavaProgram job = job("--checkpoint.idle.interval.ms", "3600000")) {
            for (int lines = 1; lines <= 2; lines++) {
                long before = events();
                log.append(1);
                awaitEvents(job, before + 1);
                job.await("no further checkpoint", TIMEOUT, Checkpoints.noneFor(checkpoints(), PAUSE));
            }
        }
    }

    private static long events() throws Exception {
        return clickHouse.count("SELECT count() FROM tailrace.query_events");
    }

    private static void assertEverythingOnce(SlowLogFile log) throws Exception {
        assertThat(clickHouse.count("SELECT uniqExact(event_id) FROM tailrace.query_events"))
                .isEqualTo(log.entries());
        assertThat(clickHouse.count("SELECT sum(rows_examined) FROM tailrace.query_events"))
                .isEqualTo(log.entries() * (log.entries() - 1) / 2);
        assertThat(posted("ENTRY")).isEqualTo(log.entries());
        assertThat(clickHouse.count("SELECT sum(bytes) FROM tailrace.ledger WHERE stage = 'FRAMER'"))
                .isEqualTo(log.size());
        assertThat(received()).isEqualTo(log.entries());
        assertThat(clickHouse.count("SELECT count() FROM tailrace.dead_letters"))
                .isZero();
    }

    private static long signedRanges(String where) throws Exception {
        return clickHouse.count("SELECT count() FROM tailrace.signed_ranges " + where);
    }

    private static void awaitEvents(JavaProgram job, long count) throws Exception {
        job.await(
                count + " events",
                TIMEOUT,
                () -> clickHouse.count("SELECT count() FROM tailrace.query_events") >= count);
        assertThat(clickHouse.count("SELECT count() FROM tailrace.query_events"))
                .isGreaterThanOrEqualTo(count);
    }

    private static long posted(String kind) throws Exception {
        return clickHouse.count("SELECT sum(count) FROM tailrace.ledger WHERE kind = '" + kind + "'");
    }

    /** A reader sees rows before the receipts that a view derives from them. */
    private static long received() throws Exception {
        return clickHouse.count("SELECT sum(rows) FROM tailrace.receipts WHERE kind = 'EVENT'");
    }

    private static Path checkpoints() {
        return directory.resolve("checkpoints");
    }

    private static JavaProgram job(String... more) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(
                "--kafka.bootstrap", kafka.address(),
                "--clickhouse.url", clickHouse.url().toString(),
                "--clickhouse.user", "writer",
                "--clickhouse.password-file", clickHouse.passwordFile().toString(),
                "--checkpoint.dir", checkpoints().toUri().toString(),
                "--checkpoint.interval.ms", "500",
                "--web.port", Integer.toString(Repository.freePort())));
        Checkpoints.newest(checkpoints())
                .ifPresent(path ->
                        arguments.addAll(List.of("--restore.path", path.toUri().toString())));
        arguments.addAll(List.of(more));
        return JavaProgram.start(
                directory.resolve("job.log"),
                JavaProgram.shortLived("-Xmx400m"),
                JavaProgram.classPath(),
                NormalizeJob.class.getName(),
                arguments.toArray(String[]::new));
    }
}
