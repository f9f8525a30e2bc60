-- What servers say of themselves, as history: one row per fact and stretch of time in which it was the same. `since` is
-- the first look that saw it so, `last_seen` the last one; the row with the latest counts (FINAL), and writing one twice
-- changes nothing. A fact holds while its last_seen is not before the last look at its kind that ended well
-- (server_facts_current).
CREATE TABLE IF NOT EXISTS tailrace.server_facts {on_cluster}
(
    cluster      LowCardinality(String),
    instance     LowCardinality(String),
    kind         LowCardinality(String),
    key          String CODEC(ZSTD(1)),
    since        DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    last_seen    DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    attributes   Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ingested_at  DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:ReplacingMergeTree(last_seen)}
PARTITION BY toYYYYMM(since)
ORDER BY (instance, kind, key, since)
TTL toDateTime(last_seen) + INTERVAL {retention:server_facts} DAY
SETTINGS {deduplication_window}
