-- The state of each archived day: written (not yet verified), verified (the files were read back and are equal) or deleted.
-- The retention waits until a day is verified. The latest row counts (FINAL).
CREATE TABLE IF NOT EXISTS tailrace.archived_days {on_cluster}
(
    table     LowCardinality(String),
    day       Date,
    state     LowCardinality(String),
    rows      UInt64,
    bytes     UInt64,
    snapshot  String,
    location  String,
    at        DateTime64(6, 'UTC')
)
ENGINE = {engine:ReplacingMergeTree(at)}
ORDER BY (table, day)
TTL toDateTime(at) + INTERVAL {retention:archived_days} DAY
SETTINGS {deduplication_window}
