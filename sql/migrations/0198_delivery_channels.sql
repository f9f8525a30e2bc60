-- The channels of alerts.yaml: a row when a channel begins, when its state changes, and every ten minutes while the service
-- runs; the last row of a channel counts, and one that is older than half an hour says nothing about now. Append-only.
CREATE TABLE IF NOT EXISTS tailrace.delivery_channels {on_cluster}
(
    channel   LowCardinality(String),
    at        DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    kind      LowCardinality(String),
    state     LowCardinality(String),
    since     DateTime('UTC') CODEC(Delta, ZSTD(1)),
    failures  UInt32 CODEC(T64, ZSTD(1)),
    retry_at  DateTime('UTC') CODEC(ZSTD(1)),
    detail    String CODEC(ZSTD(3)),
    account   LowCardinality(String) DEFAULT currentUser(),
    CONSTRAINT state_is_known CHECK state IN ('untried', 'working', 'failing', 'removed')
)
ENGINE = {engine:MergeTree}
ORDER BY (channel, at)
TTL toDateTime(at) + INTERVAL {retention:delivery_channels} DAY
SETTINGS {deduplication_window}
