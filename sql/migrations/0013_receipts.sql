-- What was really inserted, counted by ClickHouse in the same insert: the third equation of the books compares
-- it with the ledger's EVENT and DEAD_LETTER postings. Not count() of the tables, because TTL takes rows away.
-- after_checkpoint is part of the key, so that a rewind deletes receipts by the same condition as rows, however
-- old those are. kind: EVENT, DEAD_LETTER (a row as first written) or SUPERSEDED (a dead letter taken back).
CREATE TABLE IF NOT EXISTS tailrace.receipts {on_cluster}
(
    instance          LowCardinality(String),
    source            LowCardinality(String),
    log               LowCardinality(String),
    generation        UInt64,
    kind              LowCardinality(String),
    stage             LowCardinality(String),
    code              LowCardinality(String),
    day               Date,
    after_checkpoint  UInt64 CODEC(Delta, ZSTD(1)),
    rows              UInt64 CODEC(T64, ZSTD(1)),
    bytes             UInt64 CODEC(T64, ZSTD(1))
)
ENGINE = {engine:SummingMergeTree((rows, bytes))}
PARTITION BY toYYYYMM(day)
ORDER BY (instance, source, log, generation, kind, stage, code, day, after_checkpoint)
TTL day + INTERVAL {retention:receipts} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
