-- Histograms of the latency of statement digests as a server reports them (Performance Schema of MySQL 8), cumulative since
-- first_seen. buckets has the number of statements by bucket: 0 ends at 10 µs, and each further one at 10^(1/50) times the end of
-- the one before; 449 has no end. Two readings give what was counted in between: digest_latency.
CREATE TABLE IF NOT EXISTS tailrace.digest_histograms {on_cluster}
(
    cluster      LowCardinality(String),
    instance     LowCardinality(String),
    database     LowCardinality(String),
    digest       String CODEC(ZSTD(1)),
    at           DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    first_seen   DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    buckets      Map(UInt16, Int64) CODEC(ZSTD(1)),
    ingested_at  DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:ReplacingMergeTree}
PARTITION BY toYYYYMM(at)
ORDER BY (instance, database, digest, at)
TTL toDateTime(at) + INTERVAL {retention:digest_histograms} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
