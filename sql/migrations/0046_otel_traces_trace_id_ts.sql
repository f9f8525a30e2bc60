-- From a trace's id to its time: who reads one trace reads its minute and not all partitions. Name and layout are
-- those of the OpenTelemetry ClickHouse exporter.
CREATE TABLE IF NOT EXISTS tailrace.otel_traces_trace_id_ts {on_cluster}
(
    TraceId String CODEC(ZSTD(1)),
    Start   DateTime('UTC') CODEC(Delta, ZSTD(1)),
    End     DateTime('UTC') CODEC(Delta, ZSTD(1)),
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {engine:MergeTree}
PARTITION BY toDate(Start)
ORDER BY (TraceId, Start)
TTL Start + INTERVAL {retention:otel_traces_trace_id_ts} DAY
SETTINGS {deduplication_window}, ttl_only_drop_parts = 1
