-- A statement on a server on one day: what pages of one statement read of months. query_classes_1h has a row for each bucket and
-- a part for each day; one statement over 90 days was 700,000 rows in 220 parts. Here it is a row per server and day, the
-- latencies of a day are arrays (bucket, executions), and a part has a month.
CREATE TABLE IF NOT EXISTS tailrace.query_classes_1d {on_cluster}
(
    query_id       UInt64,
    cluster        LowCardinality(String),
    instance       LowCardinality(String),
    database       LowCardinality(String),
    day            DateTime('UTC') CODEC(Delta, ZSTD(1)),
    count          SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    weight         SimpleAggregateFunction(sum, Float64) CODEC(ZSTD(1)),
    query_time     SimpleAggregateFunction(sum, Float64) CODEC(ZSTD(1)),
    lock_time      SimpleAggregateFunction(sum, Float64) CODEC(ZSTD(1)),
    rows_sent      SimpleAggregateFunction(sum, Float64) CODEC(ZSTD(1)),
    rows_examined  SimpleAggregateFunction(sum, Float64) CODEC(ZSTD(1)),
    latencies      SimpleAggregateFunction(sumMap, Tuple(Array(Int16), Array(Float64))) CODEC(ZSTD(1)),
    last_hour      SimpleAggregateFunction(max, DateTime('UTC')) CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:AggregatingMergeTree}
PARTITION BY toYYYYMM(day)
ORDER BY (query_id, cluster, instance, database, day)
TTL day + INTERVAL {retention:query_classes_1d} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1, index_granularity = 1024
