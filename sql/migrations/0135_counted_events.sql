-- Events that a new rollup counted when it was added, and that the job may insert again: after a restart it repeats the blocks of
-- its last checkpoint. Older tables contain their tokens and ignore them. A new table has no tokens, so its view (`view`)
-- leaves these events out. Rows are kept as long as replicas keep tokens.
CREATE TABLE IF NOT EXISTS tailrace.counted_events {on_cluster}
(
    view              LowCardinality(String),
    event_id          UUID CODEC(NONE),
    after_checkpoint  UInt64 CODEC(ZSTD(1)),
    listed_at         DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = {engine:ReplacingMergeTree}
ORDER BY (view, event_id)
TTL listed_at + INTERVAL {retention:counted_events} DAY
SETTINGS {deduplication_window}
