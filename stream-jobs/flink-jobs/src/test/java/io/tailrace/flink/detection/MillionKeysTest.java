package io.tailrace.flink.detection;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detect.Evidence;
import io.tailrace.detect.RuleRecord;
import io.tailrace.event.Alert;
import io.tailrace.flink.detection.correlation.CorrelationFunction;
import io.tailrace.flink.detection.correlation.EvidenceTypes;
import io.tailrace.flink.detection.rules.RuleBroadcastState;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.util.KeyedTwoInputStreamOperatorTestHarness;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures and prints the cost of the state of a million keys of two kinds: docs/DETECTORS.md. RocksDB has the settings
 * of the job. It runs first, because the process would still hold the heap of the hash map otherwise.
 */
@Tag("long")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MillionKeysTest {

    private static final int KEYS = 1_000_000;
    private static final int ROUNDS = 2;
    private static final long MEGABYTE = 1 << 20;
    private static final long ALLOWED_BYTES = 2_000_000_000;
    private static final long START_MICROS = 1_795_229_359_000_000L;
    private static final long LATENESS_MICROS = 60_000_000;
    private static final OutputTag<Evidence> NEXT = new OutputTag<>("next", EvidenceTypes.EVIDENCE);
    private static final String BY_USER_AND_HOST =
            Pushes.BRUTE_FORCE.replace("group-by: [user]", "group-by: [user, host]");

    /** The input for each key. */
    enum Kind {
        /** Two refused logins of a user from a host. */
        CORRELATION {
            @Override
            Evidence evidence(int key, int round) {
                return of("22222222-2222-4222-8222-222222222222", List.of(user(key), host(key)), key, round, List.of());
            }
        },
        /** A user with one known host, who is active from it in two hours. */
        FIRST_SEEN {
            @Override
            Evidence evidence(int key, int round) {
                return of(
                        "448870f8-989a-5baa-856e-545a0e1c6dae",
                        List.of("shop", "", user(key)),
                        key,
                        round * 60,
                        List.of(host(key)));
            }
        };

        abstract Evidence evidence(int key, int round);

        private static String user(int key) {
            return "application-" + key;
        }

        private static String host(int key) {
            return "10." + (key >> 16) + '.' + (key >> 8 & 255) + '.' + (key & 255);
        }

        private static Evidence of(String consumer, List<String> group, int key, int minutes, List<String> values) {
            String id = String.format("%08x-0000-4000-8000-%012x", key, minutes);
            long micros = START_MICROS + minutes * 60_000_000L;
            String rule = "11111111-1111-4111-8111-111111111111";
            return new Evidence(1, 1, consumer, group, rule, id, id, micros, key, values, 0, "", false, Map.of());
        }
    }

    @Test
    @Order(1)
    void fitInTwoGigabytesWithRocksDb(@TempDir Path directory) throws Exception {
        EmbeddedRocksDBStateBackend backend = new EmbeddedRocksDBStateBackend()
                .configure(settingsOfTheJob(), getClass().getClassLoader());
        backend.setDbStoragePath(directory.toString());
        try (var stage = stage(backend)) {
            for (Kind kind : Kind.values()) {
                Duration took = report(stage, kind);
                long heap = heapBytes();
                long resident = residentBytes();
                System.out.printf(
                        "%s, RocksDB: %d more keys with two events each in %d s; on disk %d MB; resident %d MB, of that"
                                + " heap in use %d MB%n",
                        kind, KEYS, took.toSeconds(), size(directory) / MEGABYTE, resident / MEGABYTE, heap / MEGABYTE);
                assertThat(resident).isLessThan(ALLOWED_BYTES);
            }
        }
    }

    @Test
    @Order(2)
    void takeHeapWithTheHashMap() throws Exception {
        try (var stage = stage(new HashMapStateBackend())) {
            for (Kind kind : Kind.values()) {
                long before = heapBytes();
                Duration took = report(stage, kind);
                long bytes = heapBytes() - before;
                System.out.printf(
                        "%s, hash map: %d more keys with two events each in %d s; heap %d MB more, %d bytes a key%n",
                        kind, KEYS, took.toSeconds(), bytes / MEGABYTE, bytes / KEYS);
                assertThat(bytes).isLessThan(ALLOWED_BYTES);
            }
            assertThat(stage.numKeyedStateEntries()).isEqualTo(Kind.values().length * KEYS);
        }
    }

    private static Configuration settingsOfTheJob() {
        return DetectionJob.flink(DetectionJobConfig.fromMap(Map.of(
                "kafka.bootstrap", "127.0.0.1:9092",
                "clickhouse.url", "http://127.0.0.1:8123",
                "checkpoint.dir", "/checkpoints",
                "state.backend", "rocksdb")));
    }

    private static KeyedTwoInputStreamOperatorTestHarness<String, Evidence, RuleRecord, Alert> stage(
            StateBackend backend) throws Exception {
        RuleRecord push = new RuleRecord(
                1,
                RuleRecord.BUNDLE,
                Pushes.json(
                        "p",
                        Map.of(
                                "a.yml",
                                Pushes.REFUSED_LOGIN,
                                "b.yml",
                                BY_USER_AND_HOST,
                                "detectors.yaml",
                                "first_seen_host:\n  learning: 14d\n")));
        var operator = new CoBroadcastWithKeyedOperator<>(
                new CorrelationFunction(new RuleBroadcastState(push, LATENESS_MICROS), NEXT),
                List.of(RuleBroadcastState.STATE));
        var stage = new KeyedTwoInputStreamOperatorTestHarness<>(operator, Evidence::key, null, Types.STRING);
        stage.setStateBackend(backend);
        stage.open();
        return stage;
    }

    private static Duration report(
            KeyedTwoInputStreamOperatorTestHarness<String, Evidence, RuleRecord, Alert> stage, Kind kind)
            throws Exception {
        long start = System.nanoTime();
        for (int round = 0; round < ROUNDS; round++) {
            for (int key = 0; key < KEYS; key++) {
                stage.processElement1(kind.evidence(key, round), 0);
            }
        }
        assertThat(stage.extractOutputValues()).isEmpty();
        return Duration.ofNanos(System.nanoTime() - start);
    }

    private static long heapBytes() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** Returns the memory of this process, including RocksDB's. */
    private static long residentBytes() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            String line =
                    lines.filter(each -> each.startsWith("VmRSS:")).findFirst().orElseThrow();
            return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
        }
    }

    private static long size(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile)
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        }
    }
}
