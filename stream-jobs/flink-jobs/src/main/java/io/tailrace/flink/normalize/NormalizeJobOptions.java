package io.tailrace.flink.normalize;

import io.tailrace.flink.runtime.JobOption;
import java.util.Optional;

/** The own keys of {@link NormalizeJobConfig}. docs/CONFIGURATION.md explains them to users. */
enum NormalizeJobOptions implements JobOption {
    /** Consumer group that shows the reading position; the position itself is in the checkpoints. */
    KAFKA_GROUP("kafka.group", "tailrace-normalize"),
    /** Regular expression of the topics with lines and census records. */
    TOPICS_LINES("topics.lines", "tailrace\\.(?!explain)[a-z]+\\.lines"),
    /** Topic that events are published to; empty to publish none. */
    TOPICS_EVENTS("topics.events", "tailrace.events"),
    /** Topic of OpenTelemetry's spans; empty to read none. */
    TOPICS_SPANS("topics.spans", "otlp_spans"),
    /** Topic of signed ranges of logs; empty to verify none. */
    TOPICS_SIGNED_RANGES("topics.signed-ranges", "tailrace.signed_ranges"),
    /** Topic of the registered keys of hosts that sign. */
    TOPICS_HOST_KEYS("topics.host-keys", "tailrace.host_keys"),
    /** Subtasks that insert: 1 or 2 per shard. */
    CLICKHOUSE_COMMITTERS("clickhouse.committers", "1"),
    /** Compressed MiB that each of them holds while ClickHouse is unavailable, before reading stops. */
    CLICKHOUSE_BUFFER_MAX_MIB("clickhouse.buffer.max.mib", "64"),
    /** Milliseconds between checkpoints; rows become visible at each checkpoint. */
    CHECKPOINT_INTERVAL_MS("checkpoint.interval.ms", "1000"),
    /** Milliseconds between checkpoints while the job reads nothing; at least those of checkpoint.interval.ms. */
    CHECKPOINT_IDLE_INTERVAL_MS("checkpoint.idle.interval.ms", "5000"),
    /** TCP port of the web UI on 127.0.0.1 when the job starts its own Flink; 0 for any free port. */
    WEB_PORT("web.port", "8081"),
    /** Retention of query_events in days; older entries become dead letters. As in sql/retention.yaml. */
    RETENTION_QUERY_EVENTS_DAYS("retention.query-events.days", "92"),
    /** Retention of audit_events in days; older entries become dead letters. As in sql/retention.yaml. */
    RETENTION_AUDIT_EVENTS_DAYS("retention.audit-events.days", "400"),
    /** Retention of error_events in days; older entries become dead letters. As in sql/retention.yaml. */
    RETENTION_ERROR_EVENTS_DAYS("retention.error-events.days", "400"),
    /** Retention of otel_traces in days; older spans become dead letters. As in sql/retention.yaml. */
    RETENTION_OTEL_TRACES_DAYS("retention.otel-traces.days", "30"),
    /** Sizes of InnoDB's redo logs, to rate the age of checkpoints: {@code db-1=1073741824, *=100663296}. */
    INNODB_LOG_CAPACITY("innodb.log.capacity", ""),
    /** Milliseconds after which a missing byte range becomes a gap. */
    GAP_TIMEOUT_MS("gap.timeout.ms", "30000");

    private final String key;
    private final String defaultValue;

    NormalizeJobOptions(String key, String defaultValue) {
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
