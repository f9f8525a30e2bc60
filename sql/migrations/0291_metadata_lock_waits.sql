-- Sessions that waited for a metadata lock when capture polled the server, one row for each session that had a lock of the
-- same object. seconds is how long a session was in its command. The loader may insert a row again.
CREATE TABLE IF NOT EXISTS tailrace.metadata_lock_waits {on_cluster}
(
    cluster             LowCardinality(String),
    instance            LowCardinality(String),
    at                  DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    object_type         LowCardinality(String),
    database            LowCardinality(String),
    object_name         String CODEC(ZSTD(1)),
    waiting_lock        LowCardinality(String),
    waiting_connection  UInt64 CODEC(T64, ZSTD(1)),
    waiting_user        LowCardinality(String),
    waiting_host        LowCardinality(String),
    waiting_command     LowCardinality(String),
    waiting_seconds     UInt64 CODEC(T64, ZSTD(1)),
    holding_lock        LowCardinality(String),
    holding_connection  UInt64 CODEC(T64, ZSTD(1)),
    holding_user        LowCardinality(String),
    holding_host        LowCardinality(String),
    holding_command     LowCardinality(String),
    holding_seconds     UInt64 CODEC(T64, ZSTD(1)),
    ingested_at         DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:ReplacingMergeTree}
PARTITION BY toYYYYMM(at)
ORDER BY (instance, at, database, object_name, object_type, waiting_connection, holding_connection, holding_lock)
TTL toDateTime(at) + INTERVAL {retention:metadata_lock_waits} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
