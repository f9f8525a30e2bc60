-- The logs and servers that the sources.yaml of a host lists, also those of which nothing ever arrived: a log without a file has
-- no census, and would otherwise be missing in every count. `tailrace.repair` of each host adds a row `listed` when a log is new
-- on its list and twice a day while it stays there, and `removed` when it is no longer listed. Append-only: neither the time nor
-- the account can be given. `log` is the path or pattern of the list; empty for a log that is pulled from a service, and for the
-- server itself (source `server`), from which capture takes snapshots.
CREATE TABLE IF NOT EXISTS tailrace.listed_logs {on_cluster}
(
    at        DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    cluster   LowCardinality(String),
    instance  LowCardinality(String),
    source    LowCardinality(String),
    log       String CODEC(ZSTD(1)),
    host      LowCardinality(String),
    action    Enum8('listed' = 1, 'removed' = 2),
    account   LowCardinality(String) DEFAULT currentUser(),
    CONSTRAINT instance_not_empty CHECK instance != '',
    CONSTRAINT host_not_empty CHECK host != ''
)
ENGINE = {engine:MergeTree}
ORDER BY (instance, source, log, host, at)
TTL toDateTime(at) + INTERVAL {retention:listed_logs} DAY
SETTINGS {deduplication_window}
