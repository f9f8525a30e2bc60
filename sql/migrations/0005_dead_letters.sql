-- Bytes that did not become an event. A later row of the same id with superseded = true replaces the first one
-- (read with FINAL: the two may lie in partitions of different days). Few rows, so they are ordered by where
-- they come from, which is how they are looked for. log is a function of the id's inputs in practice, and the
-- id closes the key, so that replacing compares exactly the id.
CREATE TABLE IF NOT EXISTS tailrace.dead_letters {on_cluster}
(
    dead_letter_id    UUID,
    cluster           LowCardinality(String),
    instance          LowCardinality(String),
    source            LowCardinality(String),
    log               LowCardinality(String),
    generation        UInt64,
    entry_offset      UInt64,
    entry_bytes       UInt64,
    stage             LowCardinality(String),
    code              LowCardinality(String),
    message           String CODEC(ZSTD(3)),
    raw               String CODEC(ZSTD(3)),
    seen_at           DateTime64(6, 'UTC'),
    superseded        Bool,
    version           LowCardinality(String),
    after_checkpoint  UInt64,
    ingested_at       DateTime('UTC') DEFAULT now()
)
ENGINE = {engine:ReplacingMergeTree(superseded)}
PARTITION BY toYYYYMMDD(seen_at)
ORDER BY (instance, log, dead_letter_id)
TTL toDateTime(seen_at) + INTERVAL {retention:dead_letters} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
