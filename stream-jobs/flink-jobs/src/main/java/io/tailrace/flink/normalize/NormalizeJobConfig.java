package io.tailrace.flink.normalize;

import io.tailrace.flink.config.SharedJobConfig;
import io.tailrace.flink.runtime.ConfigParser;
import io.tailrace.flink.runtime.ConfigurationException;
import io.tailrace.flink.runtime.JobConfig;
import io.tailrace.flink.runtime.SharedJobOptions;
import io.tailrace.innodb.RedoLogCapacities;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * The immutable configuration of the normalize job, which is read and validated at start.
 *
 * <p>{@link SharedJobOptions} and {@link NormalizeJobOptions} define the keys and their defaults; {@code
 * kafka.properties.*} are settings of Kafka's clients. {@link ConfigParser} defines the sources of values.
 */
final class NormalizeJobConfig extends SharedJobConfig {

    private static final int MAX_PARALLELISM = 1024;
    private static final int MAX_COMMITTERS = 64;

    private NormalizeJobConfig(ConfigParser values) {
        super(values);
        checkAll();
    }

    /** @throws ConfigurationException if a file, key or value cannot be used */
    static NormalizeJobConfig fromArguments(String... arguments) {
        return new NormalizeJobConfig(ConfigParser.fromArguments(NormalizeJobOptions.values(), arguments));
    }

    /** @throws ConfigurationException if a key or value cannot be used */
    static NormalizeJobConfig fromMap(Map<String, String> given) {
        return new NormalizeJobConfig(ConfigParser.fromMap(NormalizeJobOptions.values(), given));
    }

    /** Reads every other value once, so that an invalid one is an error at start instead of in an operator. */
    private void checkAll() {
        kafkaGroup();
        linesTopics();
        hostKeysTopic();
        committers();
        maxPendingBytes();
        jobSettings();
        idleCheckpointInterval();
        queryEventsRetention();
        auditEventsRetention();
        errorEventsRetention();
        otelTracesRetention();
        gapTimeout();
        innoDbLogs();
    }

    String kafkaGroup() {
        return values.notEmpty(NormalizeJobOptions.KAFKA_GROUP);
    }

    Pattern linesTopics() {
        try {
            return Pattern.compile(values.notEmpty(NormalizeJobOptions.TOPICS_LINES));
        } catch (PatternSyntaxException e) {
            throw new ConfigurationException("topics.lines is not a regular expression: " + e.getMessage());
        }
    }

    /** Returns the topic of events; empty to publish none. */
    String eventsTopic() {
        return values.text(NormalizeJobOptions.TOPICS_EVENTS);
    }

    /** Returns the topic of spans; empty to read none. */
    String spansTopic() {
        return values.text(NormalizeJobOptions.TOPICS_SPANS);
    }

    /** Returns the topic of signed ranges; empty to verify none. */
    String signedRangesTopic() {
        return values.text(NormalizeJobOptions.TOPICS_SIGNED_RANGES);
    }

    /** Returns the topic of the registered keys of hosts. */
    String hostKeysTopic() {
        return values.notEmpty(NormalizeJobOptions.TOPICS_HOST_KEYS);
    }

    int committers() {
        return values.number(NormalizeJobOptions.CLICKHOUSE_COMMITTERS, 1, MAX_COMMITTERS);
    }

    long maxPendingBytes() {
        return (long) values.number(NormalizeJobOptions.CLICKHOUSE_BUFFER_MAX_MIB, 1, 1 << 20) << 20;
    }

    int parallelism() {
        return values.number(SharedJobOptions.PARALLELISM, 1, MAX_PARALLELISM);
    }

    Duration queryEventsRetention() {
        return values.days(NormalizeJobOptions.RETENTION_QUERY_EVENTS_DAYS);
    }

    Duration auditEventsRetention() {
        return values.days(NormalizeJobOptions.RETENTION_AUDIT_EVENTS_DAYS);
    }

    Duration errorEventsRetention() {
        return values.days(NormalizeJobOptions.RETENTION_ERROR_EVENTS_DAYS);
    }

    Duration otelTracesRetention() {
        return values.days(NormalizeJobOptions.RETENTION_OTEL_TRACES_DAYS);
    }

    Duration gapTimeout() {
        return values.millis(NormalizeJobOptions.GAP_TIMEOUT_MS, 1);
    }

    RedoLogCapacities innoDbLogs() {
        try {
            return RedoLogCapacities.parse(values.text(NormalizeJobOptions.INNODB_LOG_CAPACITY));
        } catch (IllegalArgumentException e) {
            throw new ConfigurationException(NormalizeJobOptions.INNODB_LOG_CAPACITY.key() + ": " + e.getMessage());
        }
    }

    /** Returns the interval between checkpoints while nothing is read, which is not shorter than the usual one. */
    Duration idleCheckpointInterval() {
        Duration idle = values.millis(NormalizeJobOptions.CHECKPOINT_IDLE_INTERVAL_MS, 10);
        return idle.compareTo(checkpointInterval()) < 0 ? checkpointInterval() : idle;
    }

    private Duration checkpointInterval() {
        return values.millis(NormalizeJobOptions.CHECKPOINT_INTERVAL_MS, 10);
    }

    JobConfig jobSettings() {
        return JobConfig.of(
                values,
                "tailrace normalize",
                parallelism(),
                Math.max(parallelism(), committers()),
                checkpointInterval(),
                values.port(NormalizeJobOptions.WEB_PORT));
    }
}
