package io.tailrace.flink.detection;

import io.tailrace.flink.runtime.JobOption;
import java.util.Optional;

/** The own keys of {@link DetectionJobConfig}. docs/CONFIGURATION.md explains them to users. */
enum DetectionJobOptions implements JobOption {
    /** Consumer group that shows the reading position; the position itself is in the checkpoints. */
    KAFKA_GROUP("kafka.group", "tailrace-detect"),
    /** Start position of a job without state: earliest or latest. */
    KAFKA_FROM("kafka.from", "earliest"),
    /** Topic of the events. */
    TOPICS_EVENTS("topics.events", "tailrace.events"),
    /** Topic of the census. */
    TOPICS_CENSUS("topics.census", "tailrace.files"),
    /** Topic of captured plans; it may not exist yet. */
    TOPICS_PLAN_CAPTURES("topics.plan-captures", "tailrace.explain.lines"),
    /** Topic of rules and suppressions. */
    TOPICS_RULES("topics.rules", "tailrace.rules"),
    /** Topic that alerts are published to; empty to publish none. */
    TOPICS_ALERTS("topics.alerts", "tailrace.alerts"),
    /** Milliseconds between checkpoints; alerts do not wait for them. */
    CHECKPOINT_INTERVAL_MS("checkpoint.interval.ms", "10000"),
    /** Milliseconds between checkpoints while the job reads only censuses; at least those of checkpoint.interval.ms. */
    CHECKPOINT_IDLE_INTERVAL_MS("checkpoint.idle.interval.ms", "60000"),
    /** TCP port of the web UI on 127.0.0.1 when the job starts its own Flink; 0 for any free port. */
    WEB_PORT("web.port", "8082"),
    /** Milliseconds by which an event may be behind the watermark and still count completely. */
    LATENESS_MS("lateness.ms", "60000"),
    /** Milliseconds without events after which the watermark advances without a log. */
    IDLE_TIMEOUT_MS("idle.timeout.ms", "10000"),
    /** Days to remember the byte ranges of a file without new events, for deduplication. */
    DEDUPLICATION_STATE_TTL_DAYS("deduplication.state.ttl.days", "8"),
    /** Milliseconds of event time within which events of several logs are assigned to one action. */
    ACTIONS_STATE_TTL_MS("actions.state.ttl.ms", "900000"),
    /**
     * Length of the intervals of event time, in milliseconds since 1970, whose alerts of one rule and entity are
     * merged.
     */
    ALERTS_GROUP_INTERVAL_MS("alerts.group.interval.ms", "600000"),
    /** Milliseconds between two updates of an alert whose count grows. */
    ALERTS_UPDATE_INTERVAL_MS("alerts.update.interval.ms", "5000");

    private final String key;
    private final String defaultValue;

    DetectionJobOptions(String key, String defaultValue) {
        this.key = key;
        this.defaultValue = defaultValue;
    }

    @Override
    public String key() {
        return key;
    }

    @Override
    public Optional<String> defaultValue() {
        return Optional.ofNullable(defaultValue);
    }
}
