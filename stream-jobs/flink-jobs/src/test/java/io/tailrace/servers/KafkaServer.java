package io.tailrace.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Assumptions;

/** Runs a real Kafka on a free port, with the stack's own configuration. Tests are skipped if it is not installed. */
public final class KafkaServer implements AutoCloseable {

    private static final String RULES = "tailrace.rules";
    private static final List<String> TOPICS = List.of(
            "tailrace.slowlog.lines",
            "tailrace.audit.lines",
            "tailrace.backfill.lines",
            "tailrace.files",
            "tailrace.signed_ranges",
            "tailrace.host_keys",
            "tailrace.events",
            "tailrace.own.events",
            "tailrace.other.events",
            "tailrace.alerts",
            RULES);
    private static final int PARTITIONS = 2;
    private static final Duration START_TIME = Duration.ofSeconds(300);

    private final Path directory;
    private final Path jars;
    private final Map<String, Integer> partitionsOfTopics;
    private final int port = Repository.freePort();
    private Process process;

    private KafkaServer(Path directory, Path jars, Map<String, Integer> partitionsOfTopics) {
        this.directory = directory;
        this.jars = jars;
        this.partitionsOfTopics = partitionsOfTopics;
    }

    /** Starts a broker with all topics. */
    public static KafkaServer start(Path directory) throws Exception {
        return start(directory, TOPICS.stream().collect(Collectors.toMap(topic -> topic, KafkaServer::partitions)));
    }

    /** Starts a broker that has these topics, each with its number of partitions. */
    public static KafkaServer start(Path directory, Map<String, Integer> partitionsOfTopics) throws Exception {
        Optional<Path> jars = Repository.installed("kafka", "kafka_2.13-4.3.1.jar");
        Assumptions.assumeTrue(jars.isPresent(), "skipped: Kafka is not in the cache; `tailrace up` installs it");
        KafkaServer server = new KafkaServer(directory, jars.get().getParent(), partitionsOfTopics);
        server.configure();
        server.launch();
        return server;
    }

    public String address() {
        return "127.0.0.1:" + port;
    }

    private void configure() throws Exception {
        Files.createDirectories(directory);
        Path templates = Repository.root().resolve("embedded/kafka");
        String template = Files.readString(templates.resolve("server.properties.template"))
                .replace("${LISTENERS}", Files.readString(templates.resolve("plaintext.properties.template")));
        Files.writeString(
                configuration(),
                template.replace("${PORT}", Integer.toString(port))
                        .replace("${CONTROLLER_PORT}", Integer.toString(Repository.freePort()))
                        .replace("${LOG_DIRECTORY}", directory.resolve("log").toString()));
        Process format = java(
                "kafka.tools.StorageTool",
                "format",
                "--standalone",
                "--cluster-id",
                "4L6g3nShT-eMCtK--X86sw",
                "--config",
                configuration().toString());
        if (!format.waitFor(START_TIME.toSeconds(), TimeUnit.SECONDS) || format.exitValue() != 0) {
            throw new IOException("Kafka's storage cannot be formatted: see " + directory.resolve("log.txt"));
        }
    }

    private void launch() throws Exception {
        process = java("kafka.Kafka", configuration().toString());
        Await.until("Kafka at " + address(), START_TIME, this::makeTopics);
    }

    private boolean makeTopics() throws Exception {
        Map<String, Object> settings = Map.of(
                AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, address(),
                AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, 30_000,
                AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, 60_000);
        try (Admin admin = Admin.create(settings)) {
            if (!admin.listTopics().names().get().containsAll(partitionsOfTopics.keySet())) {
                List<NewTopic> topics = partitionsOfTopics.entrySet().stream()
                        .map(topic -> new NewTopic(topic.getKey(), topic.getValue(), (short) 1))
                        .toList();
                admin.createTopics(topics).all().get();
            }
            admin.listOffsets(everyPartition()).all().get();
            return true;
        }
    }

    /**
     * Returns all partitions. Their leaders answer for their offsets only once they lead. An earlier producer can have
     * its second batch accepted after its first was refused; the first is then out of sequence until it expires, after
     * two minutes.
     */
    private Map<TopicPartition, OffsetSpec> everyPartition() {
        Map<TopicPartition, OffsetSpec> partitions = new HashMap<>();
        partitionsOfTopics.forEach((topic, count) -> {
            for (int partition = 0; partition < count; partition++) {
                partitions.put(new TopicPartition(topic, partition), OffsetSpec.latest());
            }
        });
        return partitions;
    }

    private static int partitions(String topic) {
        return topic.equals(RULES) ? 1 : PARTITIONS;
    }

    private Path configuration() {
        return directory.resolve("server.properties");
    }

    private Process java(String mainClass, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("java", "-Xmx256m"));
        command.addAll(JavaProgram.SHORT_LIVED);
        command.addAll(JavaProgram.archived(jars.resolveSibling(jars.getFileName() + ".jsa")));
        command.addAll(List.of("-cp", jars + "/*", mainClass));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.resolve("log.txt").toFile()))
                .start();
    }

    @Override
    public void close() throws Exception {
        process.destroyForcibly().waitFor();
    }
}
