-- What became different between two looks at a server: an account made, a grant revoked, a setting changed; and errant
-- transactions (kind `errant`), which only a look at two servers shows. `at` is the look that saw it: it happened after
-- the one before. Read with FINAL.
CREATE TABLE IF NOT EXISTS tailrace.server_changes {on_cluster}
(
    cluster      LowCardinality(String),
    instance     LowCardinality(String),
    kind         LowCardinality(String),
    key          String CODEC(ZSTD(1)),
    at           DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    change       LowCardinality(String),
    before       Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    after        Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ingested_at  DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1)),
    CONSTRAINT change_is_known CHECK change IN ('added', 'changed', 'removed')
)
ENGINE = {engine:ReplacingMergeTree}
PARTITION BY toYYYYMM(at)
ORDER BY (instance, kind, at, key)
TTL toDateTime(at) + INTERVAL {retention:server_changes} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
