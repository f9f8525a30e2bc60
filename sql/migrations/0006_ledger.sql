-- Signed postings: what became of each byte range of each log file. Ordered by file and kind, then by offset,
-- because every question of the books goes through one file's ranges in that order.
CREATE TABLE IF NOT EXISTS tailrace.ledger {on_cluster}
(
    cluster           LowCardinality(String),
    instance          LowCardinality(String),
    source            LowCardinality(String),
    log               LowCardinality(String),
    path              LowCardinality(String),
    generation        UInt64 CODEC(Delta, ZSTD(1)),
    stage             LowCardinality(String),
    kind              LowCardinality(String),
    detail            LowCardinality(String),
    from_offset       UInt64 CODEC(Delta, ZSTD(1)),
    to_offset         UInt64 CODEC(Delta, ZSTD(1)),
    count             Int64 CODEC(T64, ZSTD(1)),
    bytes             Int64 CODEC(T64, ZSTD(1)),
    size              UInt64 CODEC(Delta, ZSTD(1)),
    inode             UInt64 CODEC(Delta, ZSTD(1)),
    at                DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    after_checkpoint  UInt64 CODEC(Delta, ZSTD(1)),
    ingested_at       DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMMDD(at)
ORDER BY (instance, source, log, generation, kind, from_offset)
TTL toDateTime(at) + INTERVAL {retention:ledger} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
