-- One row per slow log entry. Ordered by statement within an instance: the drill-down from a fingerprint reads
-- few granules, and equal statements lie together, which is where the compression comes from. A time range is
-- cut by the partitions; load over time comes from the rollups.
CREATE TABLE IF NOT EXISTS tailrace.query_events {on_cluster}
(
    event_id          UUID CODEC(NONE),
    cluster           LowCardinality(String),
    instance          LowCardinality(String),
    source            LowCardinality(String),
    log               LowCardinality(String),
    generation        UInt64 CODEC(Delta, ZSTD(1)),
    entry_offset      UInt64 CODEC(Delta, ZSTD(1)),
    entry_bytes       UInt64 CODEC(T64, ZSTD(1)),
    format            LowCardinality(String),
    event_time        DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    connection_id     UInt64 CODEC(T64, ZSTD(1)),
    user              LowCardinality(String),
    host              LowCardinality(String),
    ip                LowCardinality(String),
    database          LowCardinality(String),
    query_id          UInt64,
    rule_set          LowCardinality(String),
    verb              LowCardinality(String),
    query_time        Float64 CODEC(ZSTD(1)),
    lock_time         Float64 CODEC(ZSTD(1)),
    rows_sent         UInt64 CODEC(T64, ZSTD(1)),
    rows_examined     UInt64 CODEC(T64, ZSTD(1)),
    rows_affected     Nullable(Int64) CODEC(T64, ZSTD(1)),
    bytes_sent        Nullable(Int64) CODEC(T64, ZSTD(1)),
    error_code        Nullable(Int32) CODEC(T64, ZSTD(1)),
    weight            Float64 CODEC(ZSTD(1)),
    plan_flags        Array(LowCardinality(String)),
    explain           String CODEC(ZSTD(3)),
    attributes        Map(String, String) CODEC(ZSTD(3)),
    flags             Array(LowCardinality(String)),
    after_checkpoint  UInt64 CODEC(Delta, ZSTD(1)),
    ingested_at       DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMMDD(event_time)
ORDER BY (instance, query_id, event_time)
TTL toDateTime(event_time) + INTERVAL {retention:query_events} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
