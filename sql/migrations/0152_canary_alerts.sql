-- Alerts of canary rules, which are tried on live events: a table of its own, so that no list, dashboard, report or delivery
-- can contain them by mistake. The columns and their meaning are those of tailrace.alerts.
CREATE TABLE IF NOT EXISTS tailrace.canary_alerts {on_cluster}
(
    alert_id          UUID CODEC(NONE),
    rule_id           LowCardinality(String),
    rule_title        LowCardinality(String),
    level             LowCardinality(String),
    tags              Array(LowCardinality(String)),
    cluster           LowCardinality(String),
    instance          LowCardinality(String),
    entity            Map(String, String),
    entity_key        String CODEC(ZSTD(1)),
    event_time        DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    window_from       DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    seen_at           DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    updated_at        DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    count             UInt64 CODEC(T64, ZSTD(1)),
    metric            Int64 CODEC(T64, ZSTD(1)),
    event_ids         Array(String) CODEC(ZSTD(1)),
    statements        Array(String) CODEC(ZSTD(3)),
    facts             Map(String, String) CODEC(ZSTD(1)),
    late              Bool,
    silenced          Bool,
    link_path         String CODEC(ZSTD(1)),
    user              LowCardinality(String),
    src_ip            LowCardinality(String),
    database          LowCardinality(String),
    program           LowCardinality(String),
    next_steps        Array(LowCardinality(String)),
    false_positives   Array(LowCardinality(String)),
    rule_file         LowCardinality(String),
    ingested_at       DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1)),
    detected_at       DateTime64(6, 'UTC') ALIAS seen_at,
    INDEX event_time_index event_time TYPE minmax GRANULARITY 1
)
ENGINE = {engine:ReplacingMergeTree(updated_at)}
PARTITION BY toYYYYMM(event_time)
ORDER BY (rule_id, alert_id)
TTL toDateTime(event_time) + INTERVAL {retention:canary_alerts} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
