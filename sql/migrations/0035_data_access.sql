-- Who touched which class of sensitive data. One row per event, whatever is replayed: the key is made of the event alone,
-- and the row that comes last counts (FINAL), so that events that are read again under other classes replace theirs.
CREATE TABLE IF NOT EXISTS tailrace.data_access {on_cluster}
(
    event_id            UUID CODEC(NONE),
    action_id           String CODEC(ZSTD(1)),
    event_time          DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    cluster             LowCardinality(String),
    instance            LowCardinality(String),
    source              LowCardinality(String),
    connection_id       UInt64 CODEC(T64, ZSTD(1)),
    user                LowCardinality(String),
    host                LowCardinality(String),
    src_ip              LowCardinality(String),
    program             LowCardinality(String),
    database            LowCardinality(String),
    tables              Array(LowCardinality(String)),
    data_class          Array(LowCardinality(String)),
    data_class_read     Array(LowCardinality(String)),
    data_class_written  Array(LowCardinality(String)),
    basis               Array(LowCardinality(String)),
    mode                LowCardinality(String),
    verb                LowCardinality(String),
    query_id            Nullable(UInt64) CODEC(ZSTD(1)),
    rows_sent           Nullable(UInt64) CODEC(ZSTD(1)),
    outcome             LowCardinality(String),
    ingested_at         DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:ReplacingMergeTree}
PARTITION BY toYYYYMM(event_time)
ORDER BY (instance, event_time, event_id)
TTL toDateTime(event_time) + INTERVAL {retention:data_access} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
