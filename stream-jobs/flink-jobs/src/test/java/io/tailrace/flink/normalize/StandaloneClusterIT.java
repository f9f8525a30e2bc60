package io.tailrace.flink.normalize;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.servers.Await;
import io.tailrace.servers.ClickHouseServer;
import io.tailrace.servers.FlinkCluster;
import io.tailrace.servers.KafkaServer;
import io.tailrace.servers.Repository;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the released jar on a cluster whose TaskManager is killed. */
@Tag("long")
class StandaloneClusterIT {

    /** Flink may notice only after 50 s, its heartbeat timeout, that the TaskManager was killed. */
    private static final Duration TIMEOUT = Duration.ofSeconds(400);

    @TempDir
    Path directory;

    @Test
    void theShippedJarRunsOnAClusterAndSurvivesItsTaskManager() throws Exception {
        try (ClickHouseServer clickHouse = ClickHouseServer.start(directory.resolve("clickhouse"));
                KafkaServer kafka = KafkaServer.start(directory.resolve("kafka"));
                FlinkCluster cluster = FlinkCluster.start(directory.resolve("flink"));
                SlowLogFile log = new SlowLogFile(kafka.address(), "/var/log/slow.log")) {
            cluster.submit(jar(), NormalizeJob.class.getName(), arguments(kafka, clickHouse));
            log.append(2000);
            awaitEvents(clickHouse, 2000);
            cluster.killTaskManager();
            log.append(2000);
            cluster.launchTaskManager();
            awaitEvents(clickHouse, 4000);
            log.append(1000);
            awaitEvents(clickHouse, log.entries());
            assertThat(clickHouse.count("SELECT uniqExact(event_id) FROM tailrace.query_events"))
                    .isEqualTo(clickHouse.count("SELECT count() FROM tailrace.query_events"))
                    .isEqualTo(log.entries());
        }
    }

    private static Path jar() {
        return Repository.module("flink-jobs").resolve("target/normalize-job.jar");
    }

    private List<String> arguments(KafkaServer kafka, ClickHouseServer clickHouse) throws Exception {
        return List.of(
                "--kafka.bootstrap", kafka.address(),
                "--clickhouse.url", clickHouse.url().toString(),
                "--clickhouse.user", "writer",
                "--clickhouse.password-file", clickHouse.passwordFile().toString(),
                "--checkpoint.dir", directory.resolve("checkpoints").toUri().toString());
    }

    private static void awaitEvents(ClickHouseServer clickHouse, long count) throws Exception {
        Await.until(
                count + " events",
                TIMEOUT,
                () -> clickHouse.count("SELECT count() FROM tailrace.query_events") >= count);
    }
}
