-- Fills otel_traces_trace_id_ts, as the OpenTelemetry ClickHouse exporter's view does.
CREATE MATERIALIZED VIEW IF NOT EXISTS tailrace.otel_traces_trace_id_ts_mv {on_cluster}
TO tailrace.otel_traces_trace_id_ts
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    TraceId,
    toDateTime(min(Timestamp), 'UTC') AS Start,
    toDateTime(max(Timestamp), 'UTC') AS End
FROM tailrace.otel_traces
WHERE TraceId != ''
GROUP BY TraceId
