-- Load and percentiles over time, filtered by instance, database and user. Rows are counted in logarithmic
-- buckets, query_time ~ 1.02 ^ bucket (error <= 1 %), -32768 for zero: percentiles are then exact over buckets
-- for any time range and any filter, where an average of percentiles would be wrong:
--     quantilesExactWeighted(0.5, 0.95, 0.99)(query_time_of_bucket, toUInt64(round(weight)))
-- count is entries in the log; weight is the executions they stand for; every other sum is over executions.
CREATE TABLE IF NOT EXISTS tailrace.query_load_1m {on_cluster}
(
    cluster               LowCardinality(String),
    instance              LowCardinality(String),
    database              LowCardinality(String),
    user                  LowCardinality(String),
    minute                DateTime('UTC') CODEC(Delta, ZSTD(1)),
    bucket                Int16 CODEC(Delta, ZSTD(1)),
    count                 UInt64 CODEC(T64, ZSTD(1)),
    weight                Float64 CODEC(ZSTD(1)),
    query_time            Float64 CODEC(ZSTD(1)),
    lock_time             Float64 CODEC(ZSTD(1)),
    rows_sent             Float64 CODEC(ZSTD(1)),
    rows_examined         Float64 CODEC(ZSTD(1)),
    errors                Float64 CODEC(ZSTD(1)),
    query_time_of_bucket  Float64 ALIAS if(bucket = -32768, 0, pow(1.02, bucket))
)
ENGINE = {engine:SummingMergeTree((count, weight, query_time, lock_time, rows_sent, rows_examined, errors))}
PARTITION BY toYYYYMMDD(minute)
ORDER BY (cluster, instance, minute, database, user, bucket)
TTL minute + INTERVAL {retention:query_load_1m} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
