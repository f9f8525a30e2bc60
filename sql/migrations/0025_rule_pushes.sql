-- What the detect job made of each push of rules, and which rules it started with: `tailrace rules push` waits for its
-- row. The job may say so twice after a crash.
CREATE TABLE IF NOT EXISTS tailrace.rule_pushes {on_cluster}
(
    push_id           String,
    at                DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    accepted          Bool,
    pushed_by         LowCardinality(String),
    rules             UInt32,
    detectors         UInt32,
    classes           UInt32,
    message           String CODEC(ZSTD(3)),
    bundle_offset     Int64,
    at_start          Bool,
    ingested_at       DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(at)
ORDER BY (at, push_id)
TTL toDateTime(at) + INTERVAL {retention:rule_pushes} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
