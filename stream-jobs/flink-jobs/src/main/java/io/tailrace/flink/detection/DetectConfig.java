package io.tailrace.flink.detection;

import io.tailrace.flink.clickhouse.ClickHouseAddress;
import io.tailrace.flink.runtime.ConfigException;
import io.tailrace.flink.runtime.ConfigValues;
import io.tailrace.flink.runtime.FlinkSettings;
import io.tailrace.flink.runtime.JobSettings;
import io.tailrace.flink.runtime.KafkaClients;
import io.tailrace.flink.runtime.WebUi;
import java.time.Duration;
import java.util.Map;

/**
 * Configuration of the detect job: read once at start, checked as a whole, never changed. The keys, their meaning and
 * defaults are those of {@link DetectKey} and, for Kafka's clients, {@code kafka.properties.*}; {@link ConfigValues}
 * says how they are given.
 */
final class DetectConfig {

    private static final int MOST_PORT = 65_535;
    private static final int MOST_PARALLELISM = 128;
    private static final int MOST_DAYS = 36_500;

    private final ConfigValues<DetectKey> values;

    private DetectConfig(ConfigValues<DetectKey> values) {
        this.values = values;
        checkAll();
    }

    /** @throws ConfigException if a file, key or value cannot be used */
    static DetectConfig fromArguments(String... arguments) {
        return new DetectConfig(ConfigValues.fromArguments(DetectKey.class, arguments));
    }

    /** @throws ConfigException if a key or value cannot be used */
    static DetectConfig fromMap(Map<String, String> given) {
        return new DetectConfig(ConfigValues.fromMap(DetectKey.class, given));
    }

    /** Reads every value once, so that a bad one is found at start and not in an operator. */
    private void checkAll() {
        kafka();
        kafkaGroup();
        startsWithLatest();
        eventsTopic();
        filesTopic();
        rulesTopic();
        capturesTopic();
        clickHouse();
        clickHouseDatabase();
        jobSettings();
        lateness();
        quiet();
        duplicatesRemembered();
        actionsRemembered();
        alertsGrouped();
        alertsUpdated();
    }

    KafkaClients kafka() {
        return new KafkaClients(values.notEmpty(DetectKey.KAFKA_BOOTSTRAP), values.kafkaProperties());
    }

    String kafkaGroup() {
        return values.notEmpty(DetectKey.KAFKA_GROUP);
    }

    boolean startsWithLatest() {
        return values.oneOf(DetectKey.KAFKA_FROM, "earliest", "latest").equals("latest");
    }

    String eventsTopic() {
        return values.notEmpty(DetectKey.TOPICS_EVENTS);
    }

    String filesTopic() {
        return values.notEmpty(DetectKey.TOPICS_FILES);
    }

    String rulesTopic() {
        return values.notEmpty(DetectKey.TOPICS_RULES);
    }

    String capturesTopic() {
        return values.notEmpty(DetectKey.TOPICS_CAPTURES);
    }

    /** Empty to publish no alerts. */
    String alertsTopic() {
        return values.text(DetectKey.TOPICS_ALERTS);
    }

    ClickHouseAddress clickHouse() {
        return new ClickHouseAddress(
                values.httpAddress(DetectKey.CLICKHOUSE_URL),
                values.notEmpty(DetectKey.CLICKHOUSE_USER),
                values.text(DetectKey.CLICKHOUSE_PASSWORD_FILE));
    }

    String clickHouseDatabase() {
        return values.notEmpty(DetectKey.CLICKHOUSE_DATABASE);
    }

    /** Empty to start without state. */
    String restorePath() {
        return values.text(DetectKey.RESTORE_PATH);
    }

    JobSettings jobSettings() {
        int parallelism = values.number(DetectKey.PARALLELISM, 1, MOST_PARALLELISM);
        return new JobSettings(
                "tailrace detect",
                parallelism,
                parallelism,
                values.oneOf(DetectKey.STATE_BACKEND, FlinkSettings.HASHMAP, FlinkSettings.ROCKSDB),
                values.number(
                        DetectKey.STATE_ROCKSDB_MEMORY_MIB,
                        FlinkSettings.LEAST_ROCKSDB_MIB,
                        FlinkSettings.MOST_ROCKSDB_MIB),
                values.directory(DetectKey.CHECKPOINT_DIR),
                values.millis(DetectKey.CHECKPOINT_INTERVAL_MS, 10),
                restorePath(),
                webUi(),
                values.number(DetectKey.METRICS_PORT, 0, MOST_PORT));
    }

    private WebUi webUi() {
        return new WebUi(
                values.number(DetectKey.WEB_PORT, 0, MOST_PORT),
                values.text(DetectKey.WEB_KEYSTORE),
                values.text(DetectKey.WEB_TRUSTSTORE),
                values.text(DetectKey.WEB_PASSWORD_FILE));
    }

    Duration lateness() {
        return values.millis(DetectKey.LATENESS_MS, 0);
    }

    Duration quiet() {
        return values.millis(DetectKey.QUIET_MS, 100);
    }

    Duration duplicatesRemembered() {
        return Duration.ofDays(values.number(DetectKey.DUPLICATES_DAYS, 1, MOST_DAYS));
    }

    Duration actionsRemembered() {
        return values.millis(DetectKey.ACTIONS_REMEMBERED_MS, 60_000);
    }

    Duration alertsGrouped() {
        return values.millis(DetectKey.ALERTS_GROUP_MS, 1000);
    }

    Duration alertsUpdated() {
        return values.millis(DetectKey.ALERTS_UPDATE_MS, 0);
    }
}
