package io.tailrace.flink.detection;

import io.tailrace.flink.config.SharedJobConfig;
import io.tailrace.flink.runtime.ConfigParser;
import io.tailrace.flink.runtime.ConfigurationException;
import io.tailrace.flink.runtime.JobConfig;
import io.tailrace.flink.runtime.SharedJobOptions;
import java.time.Duration;
import java.util.Map;

/**
 * The immutable configuration of the detect job, which is read and validated at start. {@link
 * SharedJobOptions} and {@link DetectionJobOptions} define the keys and their defaults; {@code kafka.properties.*} are
 * settings of Kafka's clients. {@link ConfigParser} defines the sources of values.
 */
final class DetectionJobConfig extends SharedJobConfig {

    private static final int MAX_PARALLELISM = 128;

    private DetectionJobConfig(ConfigParser values) {
        super(values);
        checkAll();
    }

    /** @throws ConfigurationException if a file, key or value cannot be used */
    static DetectionJobConfig fromArguments(String... arguments) {
        return new DetectionJobConfig(ConfigParser.fromArguments(DetectionJobOptions.values(), arguments));
    }

    /** @throws ConfigurationException if a key or value cannot be used */
    static DetectionJobConfig fromMap(Map<String, String> given) {
        return new DetectionJobConfig(ConfigParser.fromMap(DetectionJobOptions.values(), given));
    }

    /** Reads every other value once, so that an invalid one is an error at start instead of in an operator. */
    private void checkAll() {
        kafkaGroup();
        startsWithLatest();
        eventsTopic();
        filesTopic();
        rulesTopic();
        capturesTopic();
        jobSettings();
        idleCheckpointInterval();
        lateness();
        idleTimeout();
        duplicatesRemembered();
        actionsRemembered();
        alertsGrouped();
        alertsUpdated();
    }

    String kafkaGroup() {
        return values.notEmpty(DetectionJobOptions.KAFKA_GROUP);
    }

    boolean startsWithLatest() {
        return values.oneOf(DetectionJobOptions.KAFKA_FROM, "earliest", "latest")
                .equals("latest");
    }

    String eventsTopic() {
        return values.notEmpty(DetectionJobOptions.TOPICS_EVENTS);
    }

    String filesTopic() {
        return values.notEmpty(DetectionJobOptions.TOPICS_CENSUS);
    }

    String rulesTopic() {
        return values.notEmpty(DetectionJobOptions.TOPICS_RULES);
    }

    String capturesTopic() {
        return values.notEmpty(DetectionJobOptions.TOPICS_PLAN_CAPTURES);
    }

    /** Returns the topic of alerts; empty to publish none. */
    String alertsTopic() {
        return values.text(DetectionJobOptions.TOPICS_ALERTS);
    }

    JobConfig jobSettings() {
        int parallelism = values.number(SharedJobOptions.PARALLELISM, 1, MAX_PARALLELISM);
        return JobConfig.of(
                values,
                "tailrace detect",
                parallelism,
                parallelism,
                checkpointInterval(),
                values.port(DetectionJobOptions.WEB_PORT));
    }

    private Duration checkpointInterval() {
        return values.millis(DetectionJobOptions.CHECKPOINT_INTERVAL_MS, 10);
    }

    /** Returns the interval between checkpoints while only censuses are read, which is not shorter than the usual one. */
    Duration idleCheckpointInterval() {
        Duration idle = values.millis(DetectionJobOptions.CHECKPOINT_IDLE_INTERVAL_MS, 10);
        return idle.compareTo(checkpointInterval()) < 0 ? checkpointInterval() : idle;
    }

    Duration lateness() {
        return values.millis(DetectionJobOptions.LATENESS_MS, 0);
    }

    Duration idleTimeout() {
        return values.millis(DetectionJobOptions.IDLE_TIMEOUT_MS, 100);
    }

    Duration duplicatesRemembered() {
        return values.days(DetectionJobOptions.DEDUPLICATION_STATE_TTL_DAYS);
    }

    Duration actionsRemembered() {
        return values.millis(DetectionJobOptions.ACTIONS_STATE_TTL_MS, 60_000);
    }

    Duration alertsGrouped() {
        return values.millis(DetectionJobOptions.ALERTS_GROUP_INTERVAL_MS, 1000);
    }

    Duration alertsUpdated() {
        return values.millis(DetectionJobOptions.ALERTS_UPDATE_INTERVAL_MS, 0);
    }
}
