-- One row per audit record. Ordered by who did what: the questions are "what did this user read" and "which
-- logins failed", and both name the class of event.
CREATE TABLE IF NOT EXISTS tailrace.audit_events {on_cluster}
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
    event_class       LowCardinality(String),
    command           LowCardinality(String),
    command_class     LowCardinality(String),
    status            Int32 CODEC(T64, ZSTD(1)),
    connection_id     UInt64 CODEC(T64, ZSTD(1)),
    server_query_id   UInt64 CODEC(T64, ZSTD(1)),
    user              LowCardinality(String),
    priv_user         LowCardinality(String),
    proxy_user        LowCardinality(String),
    os_user           LowCardinality(String),
    host              LowCardinality(String),
    ip                LowCardinality(String),
    database          LowCardinality(String),
    object            LowCardinality(String),
    query_id          Nullable(UInt64),
    rule_set          LowCardinality(String),
    verb              LowCardinality(String),
    attributes        Map(String, String) CODEC(ZSTD(3)),
    flags             Array(LowCardinality(String)),
    after_checkpoint  UInt64 CODEC(Delta, ZSTD(1)),
    ingested_at       DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMMDD(event_time)
ORDER BY (instance, event_class, user, event_time)
TTL toDateTime(event_time) + INTERVAL {retention:audit_events} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
