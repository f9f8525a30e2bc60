-- Requests with a valid token: who read what over the API, and who was refused. The row is stored before the response is sent.
-- Append-only, as alert_actions.
CREATE TABLE IF NOT EXISTS tailrace.api_requests {on_cluster}
(
    at          DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    request_id  UUID,
    token_id    UUID,
    owner       LowCardinality(String),
    role        LowCardinality(String),
    interface   LowCardinality(String),
    operation   LowCardinality(String),
    target      String CODEC(ZSTD(3)),
    client      LowCardinality(String),
    status      UInt16 CODEC(T64, ZSTD(1)),
    rows        UInt64 CODEC(T64, ZSTD(1)),
    seconds     Float64 CODEC(ZSTD(1)),
    account     LowCardinality(String) DEFAULT currentUser()
)
ENGINE = {engine:MergeTree}
PARTITION BY toYYYYMM(at)
ORDER BY (token_id, at)
TTL toDateTime(at) + INTERVAL {retention:api_requests} DAY
SETTINGS {deduplication_window}
