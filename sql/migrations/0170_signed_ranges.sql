-- The chain of signed ranges of each host, and what the normalize job found when it compared each range with the bytes
-- that arrived. A result may follow an earlier one of the same record, for example after a backfill: the latest counts
-- (FINAL). Ordered by file and offset, because an event is proven by the range that contains its entry_offset.
CREATE TABLE IF NOT EXISTS tailrace.signed_ranges {on_cluster}
(
    cluster           LowCardinality(String),
    instance          LowCardinality(String),
    source            LowCardinality(String),
    log               LowCardinality(String),
    path              LowCardinality(String),
    generation        UInt64 CODEC(Delta, ZSTD(1)),
    inode             UInt64 CODEC(Delta, ZSTD(1)),
    head_length       Int32 CODEC(T64, ZSTD(1)),
    head_hash         LowCardinality(String),
    from_offset       UInt64 CODEC(Delta, ZSTD(1)),
    to_offset         UInt64 CODEC(Delta, ZSTD(1)),
    closed            Bool,
    sha256            String CODEC(ZSTD(1)),
    host              LowCardinality(String),
    key               LowCardinality(String),
    sequence          UInt64 CODEC(Delta, ZSTD(1)),
    previous          String CODEC(ZSTD(1)),
    payload           String CODEC(ZSTD(3)),
    payload_sha256    String CODEC(ZSTD(1)),
    signature         String CODEC(ZSTD(1)),
    status            LowCardinality(String),
    reason            LowCardinality(String),
    signed_at         DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    verified_at       DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    after_checkpoint  UInt64 CODEC(Delta, ZSTD(1)),
    ingested_at       DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:ReplacingMergeTree(verified_at)}
PARTITION BY toYYYYMM(signed_at)
ORDER BY (instance, source, log, from_offset, key, sequence, payload_sha256)
TTL toDateTime(signed_at) + INTERVAL {retention:signed_ranges} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
