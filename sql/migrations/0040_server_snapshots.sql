-- One row per look at one kind of a server's facts (collectors/capture), and per part of a large one: when it was looked
-- at, and whether the server let it be seen. A kind that is `denied` is unknown, not empty. Read with FINAL: the loader
-- may insert a row twice.
CREATE TABLE IF NOT EXISTS tailrace.server_snapshots {on_cluster}
(
    cluster      LowCardinality(String),
    instance     LowCardinality(String),
    kind         LowCardinality(String),
    at           DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    part         UInt32 CODEC(T64, ZSTD(1)),
    parts        UInt32 CODEC(T64, ZSTD(1)),
    product      LowCardinality(String),
    version      LowCardinality(String),
    reason       LowCardinality(String),
    status       LowCardinality(String),
    error        String CODEC(ZSTD(1)),
    truncated    Bool,
    facts        UInt32 CODEC(T64, ZSTD(1)),
    ingested_at  DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:ReplacingMergeTree}
PARTITION BY toYYYYMM(at)
ORDER BY (instance, kind, at, part)
TTL toDateTime(at) + INTERVAL {retention:server_snapshots} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
