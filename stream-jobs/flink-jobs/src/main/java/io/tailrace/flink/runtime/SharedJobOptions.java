package io.tailrace.flink.runtime;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The keys that both jobs have with the same default. docs/CONFIGURATION.md explains them to users. */
public enum SharedJobOptions implements JobOption {
    /** Kafka's addresses, {@code host:port} separated by commas. */
    KAFKA_BOOTSTRAP("kafka.bootstrap", null),
    /** HTTP address of ClickHouse. */
    CLICKHOUSE_URL("clickhouse.url", null),
    /** ClickHouse user with the privilege INSERT on the tables that the job writes. */
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
    /** URI or path of the directory for checkpoints. */
    CHECKPOINT_DIR("checkpoint.dir", null),
    /** Checkpoint or savepoint to start from; empty to start without state. */
    RESTORE_PATH("restore.path", ""),
    /** Subtasks of each operator. */
    PARALLELISM("parallelism", "2"),
    /** State backend: hashmap (state in memory) or rocksdb (state on disk; needs Flink's RocksDB jar). */
    STATE_BACKEND("state.backend", "hashmap"),
    /** MiB of memory for RocksDB's caches and write buffers in each slot. */
    STATE_ROCKSDB_MEMORY_MIB("state.rocksdb.memory.mib", "256"),
    /** PKCS12 file with key and certificate of the web UI, which then requires a client certificate; empty: HTTP. */
    WEB_KEYSTORE("web.keystore", ""),
    /** PKCS12 file with the authorities whose client certificates are accepted. */
    WEB_TRUSTSTORE("web.truststore", ""),
    /** File with the password of both. */
    WEB_PASSWORD_FILE("web.password-file", ""),
    /** TCP port of the metrics on 127.0.0.1 when the job starts its own Flink; 0 for none. */
    METRICS_PORT("metrics.port", "0");

    private final String key;
    private final String defaultValue;

    SharedJobOptions(String key, String defaultValue) {
        this.key = key;
        this.defaultValue = defaultValue;
    }

    /** Returns all keys of a job: these and its own. */
    static List<JobOption> with(JobOption... ofJob) {
        return Stream.concat(Stream.of(values()), Stream.of(ofJob)).toList();
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
