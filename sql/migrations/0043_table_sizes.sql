-- How large the largest tables of each server were, hourly. Rows are the engine's estimate, sizes bytes. Read with FINAL.
CREATE TABLE IF NOT EXISTS tailrace.table_sizes {on_cluster}
(
    cluster      LowCardinality(String),
    instance     LowCardinality(String),
    database     LowCardinality(String),
    table        String CODEC(ZSTD(1)),
    at           DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    engine       LowCardinality(String),
    rows         UInt64 CODEC(T64, ZSTD(1)),
    data_bytes   UInt64 CODEC(T64, ZSTD(1)),
    index_bytes  UInt64 CODEC(T64, ZSTD(1)),
    free_bytes   UInt64 CODEC(T64, ZSTD(1)),
    ingested_at  DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:ReplacingMergeTree}
PARTITION BY toYYYYMM(at)
ORDER BY (instance, database, table, at)
TTL toDateTime(at) + INTERVAL {retention:table_sizes} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
