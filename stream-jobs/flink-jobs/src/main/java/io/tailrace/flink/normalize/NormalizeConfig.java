package io.tailrace.flink.normalize;

import io.tailrace.flink.runtime.ConfigException;
import io.tailrace.flink.runtime.ConfigValues;
import io.tailrace.flink.runtime.FlinkSettings;
import io.tailrace.flink.runtime.JobSettings;
import io.tailrace.flink.runtime.WebUi;
import io.tailrace.innodb.LogCapacities;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Configuration of the normalize job: read once at start, checked as a whole, never changed.
 *
 * <p>The keys, their meaning and defaults are those of {@link NormalizeKey} and, for Kafka's clients,
 * {@code kafka.properties.*}; {@link ConfigValues} says how they are given.
 */
final class NormalizeConfig {

    private static final int MOST_PORT = 65_535;
    private static final int MOST_PARALLELISM = 1024;
    private static final int MOST_COMMITTERS = 64;
    private static final int MOST_DAYS = 36_500;

    private final ConfigValues<NormalizeKey> values;

    private NormalizeConfig(ConfigValues<NormalizeKey> values) {
        this.values = values;
        checkAll();
    }

    /** @throws ConfigException if a file, key or value cannot be used */
    static NormalizeConfig fromArguments(String... arguments) {
        return new NormalizeConfig(ConfigValues.fromArguments(NormalizeKey.class, arguments));
    }

    /** @throws ConfigException if a key or value cannot be used */
    static NormalizeConfig fromMap(Map<String, String> given) {
        return new NormalizeConfig(ConfigValues.fromMap(NormalizeKey.class, given));
    }

    /** Reads every value once, so that a bad one is found at start and not in an operator. */
    private void checkAll() {
        kafkaBootstrap();
        kafkaGroup();
        linesTopics();
        clickHouseUrl();
        clickHouseUser();
        clickHouseDatabase();
        committers();
        mostPendingBytes();
        checkpointDirectory();
        checkpointInterval();
        parallelism();
        webUi();
        metricsPort();
        queryEventsRetention();
        auditEventsRetention();
        errorEventsRetention();
        otelTracesRetention();
        gapTimeout();
        innoDbLogs();
        stateBackend();
        rocksDbMemoryMib();
    }

    String kafkaBootstrap() {
        return values.notEmpty(NormalizeKey.KAFKA_BOOTSTRAP);
    }

    String kafkaGroup() {
        return values.notEmpty(NormalizeKey.KAFKA_GROUP);
    }

    /** Settings for Kafka's clients, such as {@code security.protocol}. */
    Properties kafkaProperties() {
        return values.kafkaProperties();
    }

    Pattern linesTopics() {
        try {
            return Pattern.compile(values.notEmpty(NormalizeKey.TOPICS_LINES));
        } catch (PatternSyntaxException e) {
            throw new ConfigException("topics.lines is no regular expression: " + e.getMessage());
        }
    }

    /** Empty to publish no events. */
    String eventsTopic() {
        return values.text(NormalizeKey.TOPICS_EVENTS);
    }

    /** Empty to read no spans. */
    String spansTopic() {
        return values.text(NormalizeKey.TOPICS_SPANS);
    }

    URI clickHouseUrl() {
        return values.httpAddress(NormalizeKey.CLICKHOUSE_URL);
    }

    String clickHouseUser() {
        return values.notEmpty(NormalizeKey.CLICKHOUSE_USER);
    }

    /** Empty for no password. */
    String clickHousePasswordFile() {
        return values.text(NormalizeKey.CLICKHOUSE_PASSWORD_FILE);
    }

    String clickHouseDatabase() {
        return values.notEmpty(NormalizeKey.CLICKHOUSE_DATABASE);
    }

    int committers() {
        return values.number(NormalizeKey.CLICKHOUSE_COMMITTERS, 1, MOST_COMMITTERS);
    }

    long mostPendingBytes() {
        return (long) values.number(NormalizeKey.CLICKHOUSE_PENDING_MIB, 1, 1 << 20) << 20;
    }

    /** As a URI. */
    String checkpointDirectory() {
        return values.directory(NormalizeKey.CHECKPOINT_DIR);
    }

    Duration checkpointInterval() {
        return values.millis(NormalizeKey.CHECKPOINT_INTERVAL_MS, 10);
    }

    /** Empty to start without state. */
    String restorePath() {
        return values.text(NormalizeKey.RESTORE_PATH);
    }

    int parallelism() {
        return values.number(NormalizeKey.PARALLELISM, 1, MOST_PARALLELISM);
    }

    String stateBackend() {
        return values.oneOf(NormalizeKey.STATE_BACKEND, FlinkSettings.HASHMAP, FlinkSettings.ROCKSDB);
    }

    int rocksDbMemoryMib() {
        return values.number(
                NormalizeKey.STATE_ROCKSDB_MEMORY_MIB, FlinkSettings.LEAST_ROCKSDB_MIB, FlinkSettings.MOST_ROCKSDB_MIB);
    }

    WebUi webUi() {
        return new WebUi(
                values.number(NormalizeKey.WEB_PORT, 0, MOST_PORT),
                values.text(NormalizeKey.WEB_KEYSTORE),
                values.text(NormalizeKey.WEB_TRUSTSTORE),
                values.text(NormalizeKey.WEB_PASSWORD_FILE));
    }

    int metricsPort() {
        return values.number(NormalizeKey.METRICS_PORT, 0, MOST_PORT);
    }

    Duration queryEventsRetention() {
        return Duration.ofDays(values.number(NormalizeKey.RETENTION_QUERY_EVENTS_DAYS, 1, MOST_DAYS));
    }

    Duration auditEventsRetention() {
        return Duration.ofDays(values.number(NormalizeKey.RETENTION_AUDIT_EVENTS_DAYS, 1, MOST_DAYS));
    }

    Duration errorEventsRetention() {
        return Duration.ofDays(values.number(NormalizeKey.RETENTION_ERROR_EVENTS_DAYS, 1, MOST_DAYS));
    }

    Duration otelTracesRetention() {
        return Duration.ofDays(values.number(NormalizeKey.RETENTION_OTEL_TRACES_DAYS, 1, MOST_DAYS));
    }

    Duration gapTimeout() {
        return values.millis(NormalizeKey.GAP_TIMEOUT_MS, 1);
    }

    LogCapacities innoDbLogs() {
        try {
            return LogCapacities.parse(values.text(NormalizeKey.INNODB_LOG_CAPACITY));
        } catch (IllegalArgumentException e) {
            throw new ConfigException(NormalizeKey.INNODB_LOG_CAPACITY.key() + ": " + e.getMessage());
        }
    }

    JobSettings jobSettings() {
        return new JobSettings(
                "tailrace normalize",
                parallelism(),
                Math.max(parallelism(), committers()),
                stateBackend(),
                rocksDbMemoryMib(),
                checkpointDirectory(),
                checkpointInterval(),
                restorePath(),
                webUi(),
                metricsPort());
    }
}
