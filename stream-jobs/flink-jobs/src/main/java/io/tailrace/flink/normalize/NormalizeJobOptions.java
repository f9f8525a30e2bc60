package io.tailrace.flink.normalize;

import io.tailrace.flink.runtime.JobOption;
import java.util.Optional;

/** The keys of {@link NormalizeJobConfig}. docs/CONFIGURATION.md explains them to users. */
enum NormalizeJobOptions implements JobOption {
    /** Kafka's addresses, {@code host:port} separated by commas. */
    KAFKA_BOOTSTRAP("kafka.bootstrap", null),
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
    /** HTTP address of ClickHouse. */
    CLICKHOUSE_URL("clickhouse.url", null),
    /** ClickHouse user with the privilege INSERT on the tables. */
    CLICKHOUSE_USER("clickhouse.user", "default"),
    /** File with the user's password; empty for none. */
    CLICKHOUSE_PASSWORD_FILE("clickhouse.password-file", ""),
    /** File with the certificates of ClickHouse's authorities, in PEM format; empty: those of the Java runtime. */
    CLICKHOUSE_CA_FILE("clickhouse.ca-file", ""),
    /** Database of the tables. */
    CLICKHOUSE_DATABASE("clickhouse.database", "tailrace"),
    /** File with the key of the pseudonyms that replace names in rows, in hexadecimal digits; empty: names are stored. */
    PSEUDONYM_KEY_FILE("pseudonym.key-file", ""),
    /** File with the public key of the vault that keeps the names, in PEM format; with the key of the pseudonyms only. */
    PSEUDONYM_VAULT_KEY_FILE("pseudonym.vault-key-file", ""),
    /** Subtasks that insert: 1 or 2 per shard. */
    CLICKHOUSE_COMMITTERS("clickhouse.committers", "1"),
    /** Compressed MiB that each of them holds while ClickHouse is unavailable, before reading stops. */
    CLICKHOUSE_BUFFER_MAX_MIB("clickhouse.buffer.max.mib", "64"),
    /** URI or path of the directory for checkpoints. */
    CHECKPOINT_DIR("checkpoint.dir", null),
    /** Milliseconds between checkpoints; rows become visible at each checkpoint. */
    CHECKPOINT_INTERVAL_MS("checkpoint.interval.ms", "1000"),
    /** Checkpoint or savepoint to start from; empty to start without state, from the oldest lines in Kafka. */
    RESTORE_PATH("restore.path", ""),
    /** Subtasks of each operator. */
    PARALLELISM("parallelism", "2"),
    /** State backend: hashmap (state in memory) or rocksdb (state on disk; needs Flink's RocksDB jar). */
    STATE_BACKEND("state.backend", "hashmap"),
    /** MiB of memory for RocksDB's caches and write buffers in each slot. */
    STATE_ROCKSDB_MEMORY_MIB("state.rocksdb.memory.mib", "256"),
    /** TCP port of the web UI on 127.0.0.1 when the job starts its own Flink; 0 for any free port. */
    WEB_PORT("web.port", "8081"),
    /** PKCS12 file with key and certificate of the web UI, which then requires a client certificate; empty: HTTP. */
    WEB_KEYSTORE("web.keystore", ""),
    /** PKCS12 file with the authorities whose client certificates are accepted. */
    WEB_TRUSTSTORE("web.truststore", ""),
    /** File with the password of both. */
    WEB_PASSWORD_FILE("web.password-file", ""),
    /** TCP port of the metrics on 127.0.0.1 when the job starts its own Flink; 0 for none. */
    METRICS_PORT("metrics.port", "0"),
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
