package io.tailrace.flink.detection;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detect.RuleRecord;
import io.tailrace.event.AuditEvent;
import io.tailrace.flink.kafka.SingleObjectEncoder;
import io.tailrace.servers.Await;
import io.tailrace.servers.Checkpoints;
import io.tailrace.servers.ClickHouseServer;
import io.tailrace.servers.JavaProgram;
import io.tailrace.servers.KafkaServer;
import io.tailrace.servers.Repository;
import io.tailrace.servers.SharedClickHouse;
import io.tailrace.servers.SharedKafka;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Runs the job in a separate process, between a real Kafka and a real ClickHouse. */
class DetectionJobIT {

    /** A start of the job takes minutes on a busy machine. */
    private static final Duration TIMEOUT = Duration.ofSeconds(300);

    private static final long INTERVAL_SECONDS = 600;
    /**
     * Exceeds the duration of the test. The events are older than the timespan of a correlation, so a watermark that
     * followed the clock would make the job forget them while the test waits for an alert.
     */
    private static final Duration NEVER_IDLE = Duration.ofDays(1);
    /** Topics without events of the normalize job. */
    private static final String EVENTS = "tailrace.own.events";

    private static final String OTHER_EVENTS = "tailrace.other.events";
    private static final int ACCEPTED = 202;
    private static final Pattern JOB_ID = Pattern.compile("\"jid\":\"([0-9a-f]+)\"");

    @TempDir
    static Path directory;

    @RegisterExtension
    static final SharedClickHouse CLICKHOUSE = new SharedClickHouse();

    @RegisterExtension
    static final SharedKafka KAFKA = new SharedKafka();

    private static KafkaServer kafka;
    private static ClickHouseServer clickHouse;
    private static KafkaProducer<byte[], byte[]> producer;
    private static final SingleObjectEncoder<AuditEvent> ENCODER = new SingleObjectEncoder<>(AuditEvent.class);

    private final HttpClient http = HttpClient.newHttpClient();
    private final int port = Repository.freePort();
    /** Start of the last complete interval of event time whose alerts are merged. */
    private final Instant start =
            Instant.ofEpochSecond((Instant.now().getEpochSecond() / INTERVAL_SECONDS - 1) * INTERVAL_SECONDS);

    @BeforeAll
    static void startServers() throws Exception {
        clickHouse = CLICKHOUSE.server();
        kafka = KAFKA.server();
        Properties properties = new Properties();
        properties.setProperty(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, kafka.address());
        properties.setProperty(ProducerConfig.MAX_BLOCK_MS_CONFIG, Long.toString(TIMEOUT.toMillis()));
        properties.setProperty(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Long.toString(TIMEOUT.toMillis()));
        producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    }

    @AfterAll
    static void closeProducer() {
        if (producer != null) {
            producer.close();
        }
    }

    @Test
    void aSavepointAmidAnAttackGoesOnWithTwiceTheSubtasksAndTakesPushes() throws Exception {
        push(Pushes.bruteForce("first"));
        String savepoint;
        try (JavaProgram job = job(1, "", EVENTS)) {
            awaitAccepted("first");
            logins("root", 0, 6);
            awaitAlerts("low", "root", 6);
            savepoint = stopWithSavepoint(job, "first");
        }
        try (JavaProgram job = job(2, savepoint, EVENTS)) {
            logins("root", 6, 9);
            logins("root", 3, 9);
            awaitAlerts("low", "root", 9);
            assertThat(alerts("high", "root")).isZero();
            logins("root", 9, 12);
            Await.until("brute force", TIMEOUT, () -> alerts("high", "root") == 1);
            awaitAlerts("low", "root", 12);
            assertThat(clickHouse.count("SELECT metric FROM tailrace.alerts FINAL WHERE level = 'high'"))
                    .isEqualTo(10);
            assertThat(clickHouse.count("SELECT length(event_ids) FROM tailrace.alerts FINAL WHERE level = 'high'"))
                    .isEqualTo(10);

            logins("admin", 20, 30);
            Await.until("an alert over alerts", TIMEOUT, () -> count("level = 'critical'") == 1);

            aRefusedPushChangesNothing();
            push(Pushes.json("second", Map.of("a.yml", Pushes.ANY_REFUSED_LOGIN.replace("low", "informational"))));
            awaitInForce("second");
            logins("late", 60, 61);
            Await.until("the new rule", TIMEOUT, () -> count("level = 'informational'") == 1);

            alertsOfACanaryRuleAreStoredApart();
            pushClassesOfData();
            accessToADataClassIsWrittenOnce();
            assertThat(job.isAlive()).isTrue();
        }
    }

    private void aRefusedPushChangesNothing() throws Exception {
        push(Pushes.json("bad", Map.of("a.yml", "title: no rule at all")));
        Await.until("a refusal", TIMEOUT, () -> pushes("bad", false) == 1);
        logins("cron", 40, 50);
        Await.until("the old rules to be in force", TIMEOUT, () -> alerts("high", "cron") == 1);
    }

    private void alertsOfACanaryRuleAreStoredApart() throws Exception {
        String canary = Pushes.ANY_REFUSED_LOGIN.replace("level: low", "level: low\ntags: [tailrace.canary]");
        push(Pushes.json("canary", Map.of("a.yml", canary)));
        awaitInForce("canary");
        logins("tried", 70, 71);
        String tried = "SELECT count() FROM tailrace.canary_alerts FINAL WHERE user = 'tried'";
        Await.until("the alert of the canary rule", TIMEOUT, () -> clickHouse.count(tried) == 1);

        push(Pushes.json("promoted", Map.of("a.yml", Pushes.ANY_REFUSED_LOGIN)));
        awaitInForce("promoted");
        logins("promoted", 80, 81);
        awaitAlerts("low", "promoted", 1);
        assertThat(count("user = 'tried'")).isZero();
        assertThat(clickHouse.count("SELECT count() FROM tailrace.canary_alerts FINAL"))
                .isEqualTo(1);
    }

    private void pushClassesOfData() throws Exception {
        push(Pushes.json(
                "classes",
                Map.of(
                        "a.yml",
                        Pushes.ANY_REFUSED_LOGIN,
                        "data-classes.yaml",
                        "classes: {pci: {patterns: [shop.cards]}}")));
        awaitInForce("classes");
        assertThat(clickHouse.count("SELECT max(classes) FROM tailrace.rule_pushes WHERE push_id = 'classes'"))
                .isEqualTo(1);
    }

    private void accessToADataClassIsWrittenOnce() throws Exception {
        send(Logins.statement("db-2", 1, start, "orders"));
        send(Logins.statement("db-2", 2, start.plusSeconds(1), "cards"));
        send(Logins.statement("db-2", 2, start.plusSeconds(1), "cards"));
        Await.until("an access", TIMEOUT, () -> accesses("has(data_class, 'pci')") == 1);
        assertThat(accesses("mode = 'read' AND basis = ['statement'] AND user = 'app' AND tables = ['shop.cards']"))
                .isEqualTo(1);
        assertThat(accesses("1")).isEqualTo(1);
    }

    /**
     * Savepoints are in Flink's canonical format: state moves from memory to RocksDB, and from one RocksDB to another.
     */
    @Test
    void stateMovesToRocksDbAndFromOneRocksDbToTheNext() throws Exception {
        push(Pushes.json(
                "rocks",
                Map.of(
                        "a.yml", Pushes.REFUSED_LOGIN,
                        "b.yml", Pushes.BRUTE_FORCE.replace("high", "medium"),
                        "c.yml", Pushes.ANY_REFUSED_LOGIN)));
        String savepoint;
        try (JavaProgram job = job(1, "", OTHER_EVENTS)) {
            awaitAccepted("rocks");
            refusedGuests(0, 3);
            awaitAlerts("low", "guest", 3);
            Await.until("what can fire on db-3", TIMEOUT, () -> answers() == 4);
            assertThat(clickHouse.count("SELECT count() FROM tailrace.rule_coverage FINAL"
                            + " WHERE instance = 'db-3' AND source IN ('', 'audit') AND in_force AND can_fire"))
                    .isEqualTo(4);
            savepoint = stopWithSavepoint(job, "in-memory");
        }
        try (JavaProgram job = job(1, savepoint, OTHER_EVENTS, "--state.backend", "rocksdb")) {
            refusedGuests(0, 6);
            awaitAlerts("low", "guest", 6);
            assertThat(get("/jobs/" + jobId() + "/checkpoints/config")).contains("EmbeddedRocksDBStateBackend");
            savepoint = stopWithSavepoint(job, "in-rocksdb");
        }
        try (JavaProgram job = job(2, savepoint, OTHER_EVENTS, "--state.backend", "rocksdb")) {
            refusedGuests(0, 9);
            awaitAlerts("low", "guest", 9);
            assertThat(alerts("medium", "guest")).isZero();
            refusedGuests(9, 10);
            Await.until("brute force", TIMEOUT, () -> alerts("medium", "guest") == 1);
            assertThat(clickHouse.count("SELECT length(event_ids) FROM tailrace.alerts FINAL WHERE level = 'medium'"))
                    .isEqualTo(10);
            assertThat(answers()).as("what was said is not said again").isEqualTo(4);
            assertThat(job.isAlive()).isTrue();
        }
    }

    /**
     * Returns the number of rows about db-3, older results of a rule included: two rules that raise alerts, on its log
     * and on all its logs.
     */
    private static long answers() throws Exception {
        return clickHouse.count("SELECT count() FROM tailrace.rule_coverage WHERE instance = 'db-3'");
    }

    private static long accesses(String condition) throws Exception {
        return clickHouse.count("SELECT count() FROM tailrace.data_access FINAL WHERE " + condition);
    }

    private static void send(AuditEvent event) throws Exception {
        producer.send(new ProducerRecord<>(EVENTS, "db-2".getBytes(StandardCharsets.UTF_8), ENCODER.encode(event)))
                .get();
    }

    private void logins(String user, int from, int to) throws Exception {
        refused(EVENTS, "db-1", user, from, to);
    }

    /** Uses a separate topic, so that the alerts of other jobs do not count. */
    private void refusedGuests(int from, int to) throws Exception {
        refused(OTHER_EVENTS, "db-3", "guest", from, to);
    }

    private void refused(String topic, String instance, String user, int from, int to) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (int number = from; number < to; number++) {
            AuditEvent event = Logins.refused(instance, user, number, start.plusSeconds(number));
            sent.add(producer.send(
                    new ProducerRecord<>(topic, instance.getBytes(StandardCharsets.UTF_8), ENCODER.encode(event))));
        }
        for (Future<RecordMetadata> record : sent) {
            record.get();
        }
    }

    private static void push(String json) throws Exception {
        producer.send(new ProducerRecord<>(
                        "tailrace.rules",
                        RuleRecord.BUNDLE.getBytes(StandardCharsets.UTF_8),
                        json.getBytes(StandardCharsets.UTF_8)))
                .get();
    }

    private static void awaitAccepted(String push) throws Exception {
        Await.until(push + " to be accepted", TIMEOUT, () -> pushes(push, true) >= 1);
    }

    /**
     * Waits until all operators have the rules of a push. Its row does not imply that: they receive the rules from the
     * operator that also emits the row.
     */
    private void awaitInForce(String push) throws Exception {
        awaitAccepted(push);
        Path ofJob = checkpoints().resolve(jobId());
        Await.until("a checkpoint after " + push, TIMEOUT, Checkpoints.another(ofJob));
    }

    private static Path checkpoints() {
        return directory.resolve("checkpoints");
    }

    private static long pushes(String push, boolean accepted) throws Exception {
        return clickHouse.count("SELECT count() FROM tailrace.rule_pushes WHERE push_id = '" + push
                + "' AND accepted = " + accepted + (accepted ? "" : " AND message LIKE 'a.yml:1:%'"));
    }

    /** Alerts are grouped: the count is the number of merged alerts. */
    private static void awaitAlerts(String level, String user, long events) throws Exception {
        String sql =
                "SELECT sum(count) FROM tailrace.alerts FINAL WHERE level = '" + level + "' AND user = '" + user + "'";
        Await.until(events + " alerts of " + user, TIMEOUT, () -> clickHouse.count(sql) >= events);
        assertThat(clickHouse.count(sql)).isEqualTo(events);
        assertThat(alerts(level, user)).isEqualTo(1);
    }

    private static long alerts(String level, String user) throws Exception {
        return count("level = '" + level + "' AND user = '" + user + "'");
    }

    private static long count(String condition) throws Exception {
        return clickHouse.count("SELECT count() FROM tailrace.alerts FINAL WHERE " + condition);
    }

    /** The process of the job ends with the job. */
    private String stopWithSavepoint(JavaProgram process, String name) throws Exception {
        String job = jobId();
        Path savepoints = directory.resolve(name);
        HttpResponse<String> answer = http.send(
                HttpRequest.newBuilder(uri("/jobs/" + job + "/stop"))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(
                                "{\"targetDirectory\":\"" + savepoints.toUri() + "\",\"drain\":false}"))
                        .build(),
                BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(ACCEPTED);
        assertThat(process.exitCode(TIMEOUT)).isZero();
        return savepoint(savepoints).orElseThrow().toUri().toString();
    }

    private String jobId() throws Exception {
        return find(JOB_ID, get("/jobs/overview"));
    }

    private static Optional<Path> savepoint(Path directory) throws Exception {
        try (Stream<Path> found = Files.list(directory)) {
            return found.findFirst();
        }
    }

    private String get(String path) throws Exception {
        return http.send(HttpRequest.newBuilder(uri(path)).build(), BodyHandlers.ofString())
                .body();
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + port + path);
    }

    private static String find(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        assertThat(matcher.find()).as(text).isTrue();
        return matcher.group(1);
    }

    private JavaProgram job(int parallelism, String restored, String events, String... further) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(
                "--kafka.bootstrap", kafka.address(),
                "--topics.events", events,
                "--clickhouse.url", clickHouse.url().toString(),
                "--clickhouse.user", "writer",
                "--clickhouse.password-file", clickHouse.passwordFile().toString(),
                "--checkpoint.dir", checkpoints().toUri().toString(),
                "--checkpoint.interval.ms", "1000",
                "--checkpoint.idle.interval.ms", "1000",
                "--alerts.update.interval.ms", "200",
                "--idle.timeout.ms", Long.toString(NEVER_IDLE.toMillis()),
                "--parallelism", Integer.toString(parallelism),
                "--web.port", Integer.toString(port)));
        arguments.addAll(List.of(further));
        if (!restored.isEmpty()) {
            arguments.addAll(List.of("--restore.path", restored));
        }
        return JavaProgram.start(
                directory.resolve("job.log"),
                JavaProgram.shortLived("-Xmx256m"),
                JavaProgram.classPath(),
                DetectionJob.class.getName(),
                arguments.toArray(String[]::new));
    }
}
