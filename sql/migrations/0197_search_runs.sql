-- Runs of scheduled searches: a row for each attempt to deliver a run to a channel. Without a channel: an attempt to search, or
-- a row for the runs that were missed. Append-only, as alert_deliveries.
CREATE TABLE IF NOT EXISTS tailrace.search_runs {on_cluster}
(
    owner    String CODEC(ZSTD(1)),
    name     String CODEC(ZSTD(1)),
    until    DateTime('UTC') CODEC(Delta, ZSTD(1)),
    at       DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    since    DateTime('UTC') CODEC(Delta, ZSTD(1)),
    role     LowCardinality(String),
    channel  LowCardinality(String),
    attempt  UInt16 CODEC(T64, ZSTD(1)),
    outcome  LowCardinality(String),
    events   UInt64 CODEC(T64, ZSTD(1)),
    missed   UInt32 CODEC(T64, ZSTD(1)),
    seconds  Float64 CODEC(ZSTD(1)),
    detail   String CODEC(ZSTD(3)),
    account  LowCardinality(String) DEFAULT currentUser(),
    CONSTRAINT outcome_is_known CHECK outcome IN ('nothing', 'delivered', 'failed', 'refused', 'denied', 'error', 'missed')
)
ENGINE = {engine:MergeTree}
ORDER BY (owner, name, until, at)
TTL toDateTime(at) + INTERVAL {retention:search_runs} DAY
SETTINGS {deduplication_window}
