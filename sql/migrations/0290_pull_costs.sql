-- What reading each pulled log cost in a period of about ten minutes: requests to its service and their repetitions, the
-- bytes of the answers, and the bytes of lines that were stored. The loader may insert a row again.
CREATE TABLE IF NOT EXISTS tailrace.pull_costs {on_cluster}
(
    cluster         LowCardinality(String),
    instance        LowCardinality(String),
    source          LowCardinality(String),
    log             String CODEC(ZSTD(1)),
    since           DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    at              DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    requests        UInt64 CODEC(T64, ZSTD(1)),
    received_bytes  UInt64 CODEC(T64, ZSTD(1)),
    line_bytes      UInt64 CODEC(T64, ZSTD(1)),
    ingested_at     DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:ReplacingMergeTree}
PARTITION BY toYYYYMM(at)
ORDER BY (instance, source, log, at)
TTL toDateTime(at) + INTERVAL {retention:pull_costs} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
