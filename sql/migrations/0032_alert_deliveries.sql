-- Every attempt to tell somebody of an alert, one row each: the delivery service's only memory. `count` is how many
-- alerts the delivered one stood for. `attempt` counts from 1 and begins anew after an outcome that ends a delivery.
-- A row with the outcome `begun` and no alert says since when a channel exists.
CREATE TABLE IF NOT EXISTS tailrace.alert_deliveries {on_cluster}
(
    alert_id  UUID,
    channel   LowCardinality(String),
    count     UInt64 CODEC(T64, ZSTD(1)),
    attempt   UInt32 CODEC(T64, ZSTD(1)),
    at        DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    outcome   LowCardinality(String),
    detail    String CODEC(ZSTD(3)),
    CONSTRAINT outcome_is_known CHECK outcome IN ('begun', 'delivered', 'failed', 'refused', 'given up')
)
ENGINE = {engine:MergeTree}
ORDER BY (channel, alert_id, at)
TTL toDateTime(at) + INTERVAL {retention:alert_deliveries} DAY
SETTINGS {deduplication_window}
