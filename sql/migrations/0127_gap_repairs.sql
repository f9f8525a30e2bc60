-- What `tailrace.repair` did about a missing byte range: `repaired` once the ledger has no gap in it, or `lost` with the
-- reason why its bytes cannot be shipped. Append-only; the latest row of a range is valid. A range that is lost can still
-- be repaired later, for example from a copy of its file.
CREATE TABLE IF NOT EXISTS tailrace.gap_repairs {on_cluster}
(
    at          DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    cluster     LowCardinality(String),
    instance    LowCardinality(String),
    source      LowCardinality(String),
    log         String CODEC(ZSTD(1)),
    generation  UInt64 CODEC(ZSTD(1)),
    from_offset UInt64 CODEC(ZSTD(1)),
    to_offset   UInt64 CODEC(ZSTD(1)),
    bytes       UInt64 CODEC(ZSTD(1)),
    state       Enum8('repaired' = 1, 'lost' = 2),
    reason      String CODEC(ZSTD(1)),
    account     LowCardinality(String) DEFAULT currentUser(),
    CONSTRAINT loss_has_a_reason CHECK state = 'repaired' OR reason != ''
)
ENGINE = {engine:MergeTree}
ORDER BY (instance, source, log, generation, from_offset, at)
TTL toDateTime(at) + INTERVAL {retention:gap_repairs} DAY
SETTINGS {deduplication_window}
