-- The same measures by statement and hour: the heaviest fingerprints and their percentiles. Ordered by
-- statement first, so that one fingerprint's history reads few granules. Buckets as in query_load_1m.
CREATE TABLE IF NOT EXISTS tailrace.query_classes_1h {on_cluster}
(
    cluster               LowCardinality(String),
    instance              LowCardinality(String),
    database              LowCardinality(String),
    user                  LowCardinality(String),
    query_id              UInt64,
    rule_set              LowCardinality(String),
    hour                  DateTime('UTC') CODEC(Delta, ZSTD(1)),
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
PARTITION BY toYYYYMMDD(hour)
ORDER BY (cluster, instance, query_id, rule_set, hour, database, user, bucket)
TTL hour + INTERVAL {retention:query_classes_1h} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
