-- When a statement's plan changed on a server, and what that did to it. The verdict's row replaces the one of the change
-- (FINAL): the key is made of the change alone, whatever is replayed.
CREATE TABLE IF NOT EXISTS tailrace.plan_changes {on_cluster}
(
    cluster               LowCardinality(String),
    instance              LowCardinality(String),
    database              LowCardinality(String),
    query_id              UInt64,
    changed_at            DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    old_plan              String,
    new_plan              String,
    verdict               LowCardinality(String),
    verdict_at            Nullable(DateTime64(6, 'UTC')),
    ratio                 Nullable(Float64),
    executions_before     UInt64,
    executions_after      UInt64,
    median_before         Nullable(Float64),
    median_after          Nullable(Float64),
    rows_examined_before  Nullable(Float64),
    rows_examined_after   Nullable(Float64),
    updated_at            DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    ingested_at           DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:ReplacingMergeTree(updated_at)}
PARTITION BY toYYYYMM(changed_at)
ORDER BY (instance, query_id, changed_at, new_plan)
TTL toDateTime(changed_at) + INTERVAL {retention:plan_changes} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
