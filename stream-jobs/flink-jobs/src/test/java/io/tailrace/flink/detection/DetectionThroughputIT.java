package io.tailrace.flink.detection;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.DetectionEngine;
import io.tailrace.detection.action.ActionResolver;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.bundle.RuleBundle;
import io.tailrace.detection.dataclass.DataClassifier;
import io.tailrace.detection.detector.InMemoryDetectorEngine;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.taxonomy.DatabaseEventMapper;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.flink.kafka.SingleObjectEncoder;
import io.tailrace.servers.Await;
import io.tailrace.servers.ClickHouseServer;
import io.tailrace.servers.JavaProgram;
import io.tailrace.servers.KafkaServer;
import io.tailrace.servers.Repository;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Measures the maximum throughput of the detect job: `make bench-detect`. Events are in a real Kafka, the job in a
 * process of its own reads them from the first to the last, and alerts go to a real ClickHouse and to their topic. The
 * alerts of each run are compared, rule by rule, with the planted statements, or with the result of the engine without
 * Flink; then the measurements are printed.
 *
 * <p>Time is measured from the first event's alert to the last event's, and again from the middle on, when most code is
 * compiled. CPU-seconds are those of the job's process: Flink, Kafka's clients, compilation and garbage collection
 * included.
 */
@Tag("benchmark")
class DetectionThroughputIT {

    private static final int EVENTS = Integer.getInteger("bench.events", 1_500_000);
    private static final int PLANTED_RULES = 100;
    private static final int SEED = 7;
    private static final int PARTITIONS = 2;
    private static final int SERVERS = 8;
    private static final double TICKS_PER_SECOND = 100;
    private static final Duration TIMEOUT = Duration.ofMinutes(4);
    /** Later events would count as those of a wrong clock. */
    private static final Instant START =
            Instant.now().minus(Duration.ofMinutes(40)).truncatedTo(ChronoUnit.SECONDS);

    @TempDir
    static Path directory;

    private static KafkaServer kafka;
    private static ClickHouseServer clickHouse;
    private static KafkaProducer<byte[], byte[]> producer;
    private static final Map<Integer, Integer> PLANTED = new TreeMap<>();

    @BeforeAll
    static void fill() throws Exception {
        clickHouse = ClickHouseServer.start(directory.resolve("clickhouse"));
        kafka = KafkaServer.start(directory.resolve("kafka"));
        Properties properties = new Properties();
        properties.setProperty(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, kafka.address());
        properties.setProperty(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
        properties.setProperty(ProducerConfig.LINGER_MS_CONFIG, "50");
        properties.setProperty(ProducerConfig.BATCH_SIZE_CONFIG, Integer.toString(256 << 10));
        producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
        SingleObjectEncoder<AuditEvent> audit = new SingleObjectEncoder<>(AuditEvent.class);
        SingleObjectEncoder<QueryEvent> query = new SingleObjectEncoder<>(QueryEvent.class);
        long[] bytes = new long[1];
        BusyServers servers = new BusyServers(SEED, EVENTS, START);
        servers.send(PLANTED_RULES, (server, record) -> {
            byte[] message =
                    record instanceof AuditEvent event ? audit.encode(event) : query.encode((QueryEvent) record);
            bytes[0] += message.length;
            byte[] key = ("db-" + server).getBytes(StandardCharsets.UTF_8);
            producer.send(new ProducerRecord<>("tailrace.events", server % PARTITIONS, key, message));
        });
        producer.flush();
        PLANTED.putAll(servers.planted());
        System.out.printf("%,d events, %d bytes each%n", EVENTS, bytes[0] / EVENTS);
    }

    @AfterAll
    static void stopServers() throws Exception {
        if (kafka != null) {
            producer.close();
            kafka.close();
        }
        if (clickHouse != null) {
            clickHouse.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"100, 1", "3000, 1", "100, 2"})
    void rulesWhoseFieldsTheEventsHave(int rules, int parallelism) throws Exception {
        Map<String, Long> expected = new TreeMap<>(Map.of("markers", 3L * SERVERS));
        PLANTED.forEach((rule, times) -> expected.put("rule " + rule, (long) times));
        run(rules + " rules", RuleLoad.rules(rules), parallelism, expected);
    }

    @Test
    void thePack() throws Exception {
        Map<String, String> files = RuleBundle.files(Repository.root().resolve("rules"));
        files.put("markers.yml", RuleLoad.MARKERS);
        run("the pack", files, 1, alertsWithoutFlink(files));
    }

    /** Returns the alerts of the engine of `tailrace detect`, with all events in the order of their times. */
    private static Map<String, Long> alertsWithoutFlink(Map<String, String> files) throws Exception {
        RuleBundle bundle = RuleBundle.of(files, new DatabaseFieldMapping());
        assertThat(bundle.errors()).isEmpty();
        DetectionEngine rules = new DetectionEngine(bundle.rules(), Long.MAX_VALUE / 4);
        InMemoryDetectorEngine detectors =
                new InMemoryDetectorEngine(bundle.detectors(), Long.MAX_VALUE / 4, () -> Long.MAX_VALUE / 2);
        DataClassifier classifier = new DataClassifier(bundle.dataClasses());
        ActionResolver actions = new ActionResolver(100_000);
        Map<String, Long> found = new TreeMap<>();
        Consumer<RaisedAlert> alerts = alert -> found.merge(alert.rule().title(), 1L, Long::sum);
        new BusyServers(SEED, EVENTS, START).send(PLANTED_RULES, (server, record) -> {
            DetectionEvent event = event(record);
            classifier.enrich(event);
            event.actionFrom(actions::of);
            rules.detect(event, alerts);
            detectors.detect(event, alerts);
        });
        return found;
    }

    private static DetectionEvent event(SpecificRecord record) {
        return record instanceof AuditEvent audit
                ? DatabaseEventMapper.of(audit, audit.getFingerprint())
                : DatabaseEventMapper.of((QueryEvent) record, ((QueryEvent) record).getFingerprint());
    }

    private static void run(String name, Map<String, String> files, int parallelism, Map<String, Long> expected)
            throws Exception {
        clickHouse.query("TRUNCATE TABLE tailrace.alerts");
        byte[] push = Pushes.json(name, files).getBytes(StandardCharsets.UTF_8);
        producer.send(new ProducerRecord<>("tailrace.rules", "bundle".getBytes(StandardCharsets.UTF_8), push))
                .get();
        try (JavaProgram job = job(name.replace(' ', '-') + '-' + parallelism, parallelism)) {
            Reading begin = await("begin", job);
            Reading middle = await("middle", job);
            Reading end = await("end", job);
            Await.until("all alerts of " + name, TIMEOUT, () -> alerts().equals(expected) || isMore(expected));
            assertThat(alerts()).isEqualTo(expected);
            System.out.printf(
                    "%s, parallelism %d: %s; second half %s%n",
                    name, parallelism, begin.to(end, EVENTS), middle.to(end, EVENTS / 2));
            job.terminate();
        }
    }

    private static boolean isMore(Map<String, Long> expected) throws Exception {
        return alerts().values().stream().mapToLong(Long::longValue).sum()
                > expected.values().stream().mapToLong(Long::longValue).sum();
    }

    /** The time of an observation, and the CPU-seconds that the job had used until then. */
    private record Reading(long nanos, double cpu) {

        String to(Reading later, int events) {
            double seconds = (later.nanos - nanos) / 1e9;
            double used = later.cpu - cpu;
            return String.format(
                    "%,.0f events/s in %.1f s, %,.0f per CPU-second of %.1f",
                    events / seconds, seconds, events / used, used);
        }
    }

    /** Waits until the last server's marker is an alert; for `begin`, until the first one is. */
    private static Reading await(String phase, JavaProgram job) throws Exception {
        String seen =
                "SELECT uniqExact(user) FROM tailrace.alerts WHERE user LIKE '" + BusyServers.MARKER + phase + "-%'";
        int wanted = phase.equals("begin") ? 1 : SERVERS;
        Await.until("marker " + phase, TIMEOUT, () -> {
            assertThat(job.isAlive()).isTrue();
            return clickHouse.count(seen) >= wanted;
        });
        return new Reading(System.nanoTime(), job.cpuTicks() / TICKS_PER_SECOND);
    }

    private static Map<String, Long> alerts() throws Exception {
        Map<String, Long> found = new TreeMap<>();
        String rows = clickHouse.query("SELECT rule_title, sum(count) FROM tailrace.alerts FINAL GROUP BY rule_title");
        rows.lines().filter(line -> !line.isEmpty()).forEach(line -> {
            String[] row = line.split("\t");
            found.put(row[0], Long.parseLong(row[1]));
        });
        return found;
    }

    private static JavaProgram job(String name, int parallelism) throws Exception {
        List<String> options = new ArrayList<>(List.of("-Xms1g", "-Xmx1g", "-XX:+UseSerialGC"));
        String recordings = System.getProperty("bench.recordings", "");
        if (!recordings.isEmpty()) {
            options.add("-XX:StartFlightRecording=settings=profile,filename=" + recordings + '/' + name + ".jfr");
        }
        return JavaProgram.start(
                directory.resolve(name + ".log"),
                options,
                JavaProgram.classPath(),
                DetectionJob.class.getName(),
                "--kafka.bootstrap",
                kafka.address(),
                "--kafka.group",
                name,
                "--clickhouse.url",
                clickHouse.url().toString(),
                "--clickhouse.user",
                "writer",
                "--clickhouse.password-file",
                clickHouse.passwordFile().toString(),
                "--checkpoint.dir",
                directory.resolve(name).toUri().toString(),
                // The events are old: a job that waits for the broker must not continue with the watermark of the
                // clock.
                "--idle.timeout.ms",
                Long.toString(Duration.ofDays(1).toMillis()),
                "--parallelism",
                Integer.toString(parallelism),
                "--web.port",
                Integer.toString(Repository.freePort()));
    }
}
