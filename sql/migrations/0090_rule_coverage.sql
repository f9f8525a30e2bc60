-- Which rules can fire on which log of a server, and what the others lack: the detect job says so when an answer changes, and
-- again every 30 days, so that what nobody says any more goes with the TTL. `source` is empty for all logs of a server
-- together: a correlation may count rules that different logs tell. The row with the latest told_at counts (FINAL), where
-- in_force.
CREATE TABLE IF NOT EXISTS tailrace.rule_coverage {on_cluster}
(
    cluster           LowCardinality(String),
    instance          LowCardinality(String),
    source            LowCardinality(String),
    rule_id           String CODEC(ZSTD(1)),
    rule_title        LowCardinality(String),
    level             LowCardinality(String),
    tags              Array(LowCardinality(String)),
    can_fire          Bool,
    reason            String CODEC(ZSTD(3)),
    missing_fields    Array(LowCardinality(String)),
    missing_classes   Array(LowCardinality(String)),
    in_force          Bool,
    changed_at        DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    told_at           DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    ingested_at       DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:ReplacingMergeTree(told_at)}
ORDER BY (instance, source, rule_id)
TTL toDateTime(told_at) + INTERVAL {retention:rule_coverage} DAY
SETTINGS {deduplication_window}
