-- Counters of statement digests as a server reports them (Performance Schema), cumulative since first_seen. Two samples
-- give what was counted in between: digest_load_1m. Times are picoseconds, which the server lets wrap at 2^64.
CREATE TABLE IF NOT EXISTS tailrace.digest_samples {on_cluster}
(
    cluster          LowCardinality(String),
    instance         LowCardinality(String),
    database         LowCardinality(String),
    digest           String CODEC(ZSTD(1)),
    at               DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    first_seen       DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    digest_text      String CODEC(ZSTD(1)),
    query_id         UInt64 CODEC(ZSTD(1)),
    statements       UInt64 CODEC(T64, ZSTD(1)),
    timer_ps         UInt64 CODEC(ZSTD(1)),
    lock_ps          UInt64 CODEC(ZSTD(1)),
    errors           UInt64 CODEC(T64, ZSTD(1)),
    warnings         UInt64 CODEC(T64, ZSTD(1)),
    rows_affected    UInt64 CODEC(T64, ZSTD(1)),
    rows_sent        UInt64 CODEC(T64, ZSTD(1)),
    rows_examined    UInt64 CODEC(T64, ZSTD(1)),
    tmp_tables       UInt64 CODEC(T64, ZSTD(1)),
    tmp_disk_tables  UInt64 CODEC(T64, ZSTD(1)),
    sort_rows        UInt64 CODEC(T64, ZSTD(1)),
    no_index_used    UInt64 CODEC(T64, ZSTD(1)),
    ingested_at      DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:ReplacingMergeTree}
PARTITION BY toYYYYMM(at)
ORDER BY (instance, database, digest, at)
TTL toDateTime(at) + INTERVAL {retention:digest_samples} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
