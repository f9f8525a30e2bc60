-- The plans that statements had; one row per server, statement, plan and source once merged (read with FINAL or GROUP BY).
-- Aggregating, so that it remembers when a plan was first seen. Plans are few beside executions: one partition.
CREATE TABLE IF NOT EXISTS tailrace.plans {on_cluster}
(
    cluster           SimpleAggregateFunction(anyLast, LowCardinality(String)),
    instance          LowCardinality(String),
    query_id          UInt64,
    plan_hash         String,
    hash_rules        LowCardinality(String),
    source            LowCardinality(String),
    seen_at           SimpleAggregateFunction(max, DateTime64(6, 'UTC')),
    first_seen_at     SimpleAggregateFunction(min, DateTime64(6, 'UTC')) DEFAULT seen_at,
    database          SimpleAggregateFunction(anyLast, LowCardinality(String)),
    server_version    SimpleAggregateFunction(anyLast, LowCardinality(String)),
    format            SimpleAggregateFunction(anyLast, LowCardinality(String)),
    tables            SimpleAggregateFunction(anyLast, Array(String)),
    access_types      SimpleAggregateFunction(anyLast, Array(String)),
    indexes           SimpleAggregateFunction(anyLast, Array(String)),
    cost              SimpleAggregateFunction(anyLast, Nullable(Float64)),
    tree              SimpleAggregateFunction(anyLast, String) CODEC(ZSTD(3)),
    model             SimpleAggregateFunction(anyLast, String) CODEC(ZSTD(3)),
    advice            SimpleAggregateFunction(anyLast, Array(String)) CODEC(ZSTD(3)),
    after_checkpoint  SimpleAggregateFunction(max, UInt64),
    ingested_at       SimpleAggregateFunction(max, DateTime('UTC')) DEFAULT now()
)
ENGINE = {engine:AggregatingMergeTree}
ORDER BY (instance, query_id, plan_hash, hash_rules, source)
TTL toDateTime(seen_at) + INTERVAL {retention:plans} DAY
SETTINGS {deduplication_window}
