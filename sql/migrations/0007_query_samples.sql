-- Unmasked statements: the only table that holds them, with a short life and a grant of its own.
CREATE TABLE IF NOT EXISTS tailrace.query_samples {on_cluster}
(
    query_id          UInt64,
    rule_set          LowCardinality(String),
    event_id          UUID,
    cluster           LowCardinality(String),
    instance          LowCardinality(String),
    database          LowCardinality(String),
    event_time        DateTime64(6, 'UTC'),
    query_time        Float64,
    statement         String CODEC(ZSTD(3)),
    after_checkpoint  UInt64,
    ingested_at       DateTime('UTC') DEFAULT now()
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMMDD(event_time)
ORDER BY (query_id, instance, event_time)
TTL toDateTime(event_time) + INTERVAL {retention:query_samples} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
