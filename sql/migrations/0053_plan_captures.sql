-- Each EXPLAIN of a statement and what became of it: which plan it had then, or why there is none. What is read from Kafka
-- twice has the same key and content, so that the second row replaces the first (FINAL).
CREATE TABLE IF NOT EXISTS tailrace.plan_captures {on_cluster}
(
    cluster         LowCardinality(String),
    instance        LowCardinality(String),
    database        LowCardinality(String),
    query_id        UInt64,
    captured_at     DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    status          LowCardinality(String),
    error           String CODEC(ZSTD(1)),
    plan_hash       LowCardinality(String),
    product         LowCardinality(String),
    server_version  LowCardinality(String),
    seconds         Float64,
    ingested_at     DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:ReplacingMergeTree}
PARTITION BY toYYYYMM(captured_at)
ORDER BY (instance, query_id, captured_at)
TTL toDateTime(captured_at) + INTERVAL {retention:plan_captures} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
