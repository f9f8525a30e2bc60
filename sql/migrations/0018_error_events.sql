-- One row per message of an error log, a backup's log or InnoDB's monitor. Ordered by what people ask for: "the
-- deadlocks of this server", "failed logins", "everything around that minute".
CREATE TABLE IF NOT EXISTS tailrace.error_events {on_cluster}
(
    event_id          UUID CODEC(NONE),
    cluster           LowCardinality(String),
    instance          LowCardinality(String),
    source            LowCardinality(String),
    log               LowCardinality(String),
    generation        UInt64 CODEC(Delta, ZSTD(1)),
    entry_offset      UInt64 CODEC(Delta, ZSTD(1)),
    entry_bytes       UInt64 CODEC(T64, ZSTD(1)),
    format            LowCardinality(String),
    event_time        DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    level             LowCardinality(String),
    subsystem         LowCardinality(String),
    code              LowCardinality(String),
    kind              LowCardinality(String),
    message           String CODEC(ZSTD(3)),
    thread_id         UInt64 CODEC(T64, ZSTD(1)),
    user              LowCardinality(String),
    host              LowCardinality(String),
    ip                LowCardinality(String),
    database          LowCardinality(String),
    details           Map(String, String) CODEC(ZSTD(3)),
    flags             Array(LowCardinality(String)),
    after_checkpoint  UInt64 CODEC(Delta, ZSTD(1)),
    ingested_at       DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMMDD(event_time)
ORDER BY (instance, kind, event_time)
TTL toDateTime(event_time) + INTERVAL {retention:error_events} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
