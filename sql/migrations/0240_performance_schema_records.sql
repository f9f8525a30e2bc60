-- Records of OpenTelemetry's mysqlreceiver and of Grafana Alloy, and the gaps between them, one row each: the rows of a
-- file (path, file) account for each of its bytes. NULL is a value that the record does not have. Rows are kept by
-- read_at, so that a wrong time of a record removes none early.
CREATE TABLE IF NOT EXISTS tailrace.performance_schema_records {on_cluster}
(
    cluster          LowCardinality(String),
    instance         LowCardinality(String),
    tool             LowCardinality(String),
    kind             LowCardinality(String),
    ignored          String CODEC(ZSTD(1)),
    at               DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    database         LowCardinality(String),
    digest           String CODEC(ZSTD(1)),
    digest_text      String CODEC(ZSTD(1)),
    query_id         UInt64 CODEC(ZSTD(1)),
    state            LowCardinality(String),
    thread_id        Nullable(UInt64) CODEC(ZSTD(1)),
    thread_event_id  Nullable(UInt64) CODEC(ZSTD(1)),
    seconds          Nullable(Float64) CODEC(ZSTD(1)),
    cpu_seconds      Nullable(Float64) CODEC(ZSTD(1)),
    wait_seconds     Nullable(Float64) CODEC(ZSTD(1)),
    wait             LowCardinality(String),
    command          LowCardinality(String),
    stage            LowCardinality(String),
    statements       Nullable(UInt64) CODEC(ZSTD(1)),
    rows_examined    Nullable(UInt64) CODEC(ZSTD(1)),
    rows_sent        Nullable(UInt64) CODEC(ZSTD(1)),
    rows_affected    Nullable(UInt64) CODEC(ZSTD(1)),
    errors           Nullable(UInt64) CODEC(ZSTD(1)),
    error_code       Nullable(UInt32) CODEC(ZSTD(1)),
    trace_id         String CODEC(ZSTD(1)),
    path             LowCardinality(String),
    file             UInt64 CODEC(Delta, ZSTD(1)),
    entry_offset     UInt64 CODEC(Delta, ZSTD(1)),
    entry_bytes      UInt64 CODEC(T64, ZSTD(1)),
    read_at          DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    ingested_at      DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:ReplacingMergeTree}
PARTITION BY toYYYYMMDD(read_at)
ORDER BY (instance, kind, database, digest, at, path, file, entry_offset)
TTL toDateTime(read_at) + INTERVAL {retention:performance_schema_records} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
