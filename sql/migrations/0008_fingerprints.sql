-- The text behind a query_id; one row per query_id and rule set once merged (read with FINAL or GROUP BY).
-- Aggregating rather than replacing, so that it also remembers when a statement was first seen: "new since the
-- release" is a question of every developer. A dimension: one partition.
CREATE TABLE IF NOT EXISTS tailrace.fingerprints {on_cluster}
(
    query_id          UInt64,
    rule_set          LowCardinality(String),
    fingerprint       SimpleAggregateFunction(anyLast, String) CODEC(ZSTD(3)),
    verb              SimpleAggregateFunction(anyLast, LowCardinality(String)),
    seen_at           SimpleAggregateFunction(max, DateTime64(6, 'UTC')),
    first_seen_at     SimpleAggregateFunction(min, DateTime64(6, 'UTC')) DEFAULT seen_at,
    after_checkpoint  SimpleAggregateFunction(max, UInt64),
    ingested_at       SimpleAggregateFunction(max, DateTime('UTC')) DEFAULT now()
)
ENGINE = {engine:AggregatingMergeTree}
ORDER BY (query_id, rule_set)
TTL toDateTime(seen_at) + INTERVAL {retention:fingerprints} DAY
SETTINGS {deduplication_window}
