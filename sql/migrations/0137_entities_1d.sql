-- What users, clients and tables did on one day: pages of entities and the search read months of it. The logs are sorted by server
-- and statement or kind of record, so that one entity was found by reading all rows; tables are arrays, which no projection has
-- one by one. A row counts for one entity; a row without a name and of the kind `log` counts all events. A client is an address
-- in one form, or a host name.
CREATE TABLE IF NOT EXISTS tailrace.entities_1d {on_cluster}
(
    event_table  LowCardinality(String),
    entity_kind  LowCardinality(String),
    name         String CODEC(ZSTD(1)),
    cluster      LowCardinality(String),
    instance     LowCardinality(String),
    database     LowCardinality(String),
    source       LowCardinality(String),
    event_class  LowCardinality(String),
    command      LowCardinality(String),
    event_name   LowCardinality(String),
    error_code   Int32 CODEC(T64, ZSTD(1)),
    day          DateTime('UTC') CODEC(Delta, ZSTD(1)),
    count        SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    weight       SimpleAggregateFunction(sum, Float64) CODEC(ZSTD(1)),
    reads        SimpleAggregateFunction(sum, Float64) CODEC(ZSTD(1)),
    changes      SimpleAggregateFunction(sum, Float64) CODEC(ZSTD(1)),
    last_time    SimpleAggregateFunction(max, DateTime64(6, 'UTC')) CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:AggregatingMergeTree}
PARTITION BY toYYYYMM(day)
ORDER BY (entity_kind, name, event_table, cluster, instance, database, source, event_class, command, event_name, error_code, day)
TTL day + INTERVAL {retention:entities_1d} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1, index_granularity = 1024
