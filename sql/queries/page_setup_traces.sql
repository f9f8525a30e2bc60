-- The spans of the last 7 days: their number, those with a statement, their services, and the time of the last one.
-- Parameters: now.
SELECT count() AS spans, countIf(query_id != 0) AS statements, uniqExact(ServiceName) AS services,
    if(spans = 0, NULL, toDateTime(max(Timestamp), 'UTC')) AS last_span
FROM tailrace.otel_traces
WHERE Timestamp >= {now:DateTime('UTC')} - INTERVAL 7 DAY
