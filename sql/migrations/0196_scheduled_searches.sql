-- Searches that run at fixed intervals: a row when one is saved, and one when it is removed; the last row of owner and name
-- counts. Append-only, as alert_actions: neither time nor account can be given.
CREATE TABLE IF NOT EXISTS tailrace.scheduled_searches {on_cluster}
(
    owner          String CODEC(ZSTD(1)),
    name           String CODEC(ZSTD(1)),
    at             DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    action         LowCardinality(String),
    role           LowCardinality(String),
    search         String CODEC(ZSTD(1)),
    every_seconds  UInt32 CODEC(T64, ZSTD(1)),
    channels       Array(LowCardinality(String)),
    account        LowCardinality(String) DEFAULT currentUser(),
    CONSTRAINT action_is_known CHECK action IN ('save', 'remove'),
    CONSTRAINT owner_not_empty CHECK owner != '',
    CONSTRAINT name_not_empty CHECK name != '',
    CONSTRAINT saved_search_is_complete CHECK action != 'save'
        OR (role != '' AND search != '' AND every_seconds >= 300 AND notEmpty(channels))
)
ENGINE = {engine:MergeTree}
ORDER BY (owner, name, at)
TTL toDateTime(at) + INTERVAL {retention:scheduled_searches} DAY
SETTINGS {deduplication_window}
