package io.tailrace.savepoints;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.savepoints.ReleaseState.Message;
import io.tailrace.servers.ClickHouseServer;
import io.tailrace.servers.JavaProgram;
import io.tailrace.servers.KafkaServer;
import io.tailrace.servers.Repository;
import io.tailrace.servers.SharedClickHouse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Both jobs start from the savepoints of each release, without {@code allowNonRestoredState}: an operator of a savepoint
 * that the jobs lack fails the test. They read the messages that the release read after its savepoint, and must write the
 * rows that the release wrote. See {@code src/test/resources/savepoints/README.md}.
 *
 * <p>{@link SavepointStateTest} is the cheap part of it.
 */
@Tag("long")
class SavepointRestoreIT {

    /** Two jobs start, which takes minutes on a machine with a load of twenty per core. */
    private static final Duration TIMEOUT = Duration.ofSeconds(400);

    private static final String RULES = "tailrace.rules";
    /** Fills the topics up to the savepoint. A job that reads it has lost its position: it becomes a dead letter. */
    private static final byte[] READ_BEFORE = {'?'};

    @TempDir
    static Path directory;

    @RegisterExtension
    static final SharedClickHouse CLICKHOUSE = new SharedClickHouse();

    private static Path clock;

    static Stream<ReleaseState> releases() throws IOException {
        return ReleaseState.all().stream();
    }

    @BeforeAll
    static void compileClock() throws Exception {
        clock = directory.resolve("shifted_clock.so");
        Path source = Repository.module("flink-jobs").resolve("src/test/c/shifted_clock.c");
        Process compiler = new ProcessBuilder("cc", "-shared", "-fPIC", "-o", clock.toString(), source.toString())
                .inheritIO()
                .start();
        assertThat(compiler.waitFor()).isZero();
    }

    @ParameterizedTest
    @MethodSource("releases")
    void theJobsGoOnWhereTheReleaseStopped(ReleaseState release) throws Exception {
        Path work = Files.createDirectories(directory.resolve(release.toString()));
        try (ReleaseRows rows = new ReleaseRows(CLICKHOUSE.server(), release);
                KafkaServer kafka = KafkaServer.start(work.resolve("kafka"), partitions(release))) {
            fill(kafka, release);
            try (JavaProgram jobs = jobs(kafka, release, work)) {
                send(
                        kafka,
                        release.messages().stream()
                                .filter(message -> !message.topic().equals(RULES))
                                .toList());
                awaitSame(rows, jobs);
            }
        }
    }

    private static void awaitSame(ReleaseRows rows, JavaProgram jobs) throws Exception {
        try {
            jobs.await("the rows of the release", TIMEOUT, rows::areSame);
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + "\n" + rows.differences(), e);
        }
    }

    private static Map<String, Integer> partitions(ReleaseState release) {
        return release.positions().entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, topic -> topic.getValue().size()));
    }

    /** All rules, which a job reads at its start, and in the other topics so many records as were read before. */
    private static void fill(KafkaServer kafka, ReleaseState release) throws Exception {
        List<Message> messages = new ArrayList<>();
        release.messages().stream()
                .filter(message -> message.topic().equals(RULES))
                .forEach(messages::add);
        release.positions().forEach((topic, offsets) -> {
            for (int partition = 0; !topic.equals(RULES) && partition < offsets.size(); partition++) {
                for (long offset = 0; offset < offsets.get(partition); offset++) {
                    messages.add(new Message(topic, partition, offset, null, READ_BEFORE));
                }
            }
        });
        send(kafka, messages);
    }

    private static void send(KafkaServer kafka, List<Message> messages) {
        Map<String, Object> settings =
                Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, kafka.address(), ProducerConfig.LINGER_MS_CONFIG, 20);
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (Message message : messages) {
                producer.send(
                        new ProducerRecord<>(message.topic(), message.partition(), message.key(), message.value()));
            }
            producer.flush();
        }
    }

    /** Both jobs in one process, whose wall clock stands at the moment of the savepoint. */
    private static JavaProgram jobs(KafkaServer kafka, ReleaseState release, Path work) throws Exception {
        long shift = Duration.between(Instant.now(), release.takenAt()).toSeconds();
        List<String> arguments = new ArrayList<>(arguments("normalize", kafka, release, work));
        arguments.add(BothJobs.NEXT);
        arguments.addAll(arguments("detect", kafka, release, work));
        return JavaProgram.start(
                work.resolve("jobs.log"),
                Map.of("LD_PRELOAD", clock.toString(), "CLOCK_SHIFT_SECONDS", Long.toString(shift)),
                JavaProgram.shortLived("-Xmx640m"),
                JavaProgram.classPath(),
                BothJobs.class.getName(),
                arguments.toArray(String[]::new));
    }

    private static List<String> arguments(String job, KafkaServer kafka, ReleaseState release, Path work)
            throws Exception {
        ClickHouseServer clickHouse = CLICKHOUSE.server();
        return List.of(
                "--kafka.bootstrap",
                kafka.address(),
                "--clickhouse.url",
                clickHouse.url().toString(),
                "--clickhouse.user",
                "writer",
                "--clickhouse.password-file",
                clickHouse.passwordFile().toString(),
                "--checkpoint.dir",
                work.resolve("checkpoints-" + job).toUri().toString(),
                "--checkpoint.interval.ms",
                "1000",
                "--parallelism",
                "1",
                "--web.port",
                Integer.toString(Repository.freePort()),
                "--restore.path",
                release.savepoint(job, work).toUri().toString());
    }
}
