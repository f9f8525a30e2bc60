-- Who looked at unmasked statements: a row `asked` before Superset sends a statement to ClickHouse as reader_unmasked, and a
-- row `shown` with the number of rows before they are given on. What cannot be recorded is not asked, or not shown
-- (embedded/superset/tailrace_asker.py). Append-only, as reviews: neither time nor account can be given, and who looks has
-- no right on it at all.
CREATE TABLE IF NOT EXISTS tailrace.unmasked_looks {on_cluster}
(
    look_id          UUID,
    at               DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    step             Enum8('asked' = 1, 'shown' = 2),
    superset_user    String CODEC(ZSTD(1)),
    dashboard        UInt32,
    chart            UInt32,
    clickhouse_user  LowCardinality(String),
    statement        String CODEC(ZSTD(3)),
    query_ids        Array(String) DEFAULT arrayDistinct(arrayFilter(found -> length(found) = 16, extractAll(statement, '''([0-9A-F]+)'''))) CODEC(ZSTD(1)),
    rows             UInt64,
    account          LowCardinality(String) DEFAULT currentUser(),
    CONSTRAINT somebody_did_it CHECK superset_user != '',
    CONSTRAINT something_was_asked CHECK statement != ''
)
ENGINE = {engine:MergeTree}
ORDER BY (at, look_id)
TTL toDateTime(at) + INTERVAL {retention:unmasked_looks} DAY
SETTINGS {deduplication_window}
