{%- include "parts/links.sql" -%}
{%- include "parts/utc.sql" -%}
-- Slow log entries whose statement contains a trace id, with the request that sent it.
--
-- `spans` is 0 while the trace has not arrived: the application does not send it, or samples it out.
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400" }} AS range_start,
    traces AS (
        SELECT
            TraceId AS trace_id,
            count() AS spans,
            argMinIf(otel_traces.endpoint, Timestamp, SpanKind IN ('Server', 'Consumer')) AS served,
            argMin(ServiceName, Timestamp) AS root_service
        FROM tailrace.otel_traces
        WHERE Timestamp >= range_start - 3600 AND Timestamp < toDateTime64(range_end, 6, 'UTC') + 600
            AND TraceId IN (
                SELECT query_events.trace_id FROM tailrace.query_events
                WHERE query_events.trace_id != '' AND event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC'))
        GROUP BY TraceId)
SELECT
    toDateTime(event_time, 'UTC') AS time,
    trace_id, span_id, cluster, instance,
    if(database = '', '(none)', database) AS database,
    leftPad(hex(query_id), 16, '0') AS query_id,
    fingerprint AS query,
    query_time AS seconds,
    traces.root_service AS service,
    multiIf(
        traces.served != '', traces.served,
        tags['route'] != '', tags['route'],
        tags['controller'] != '', concat(tags['controller'], '#', tags['action']),
        '(unknown)') AS endpoint,
    traces.spans AS spans,
    {{ link_to_query('query_id', "'open'") }} AS link,
    if(spans = 0, '', {{ link_to_trace('trace_id', "'trace'") }}) AS its_trace
FROM tailrace.query_events
LEFT JOIN traces USING (trace_id)
ANY LEFT JOIN tailrace.fingerprints USING (query_id, rule_set)
WHERE trace_id != '' AND event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
