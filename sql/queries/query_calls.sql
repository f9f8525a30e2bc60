{%- include "parts/statement.sql" -%}
{%- include "parts/links.sql" -%}
{%- include "parts/trace_requests.sql" -%}
-- Calls of one statement, measured by applications: one row per span, with its request.
WITH
    {{ chosen_statement() }},
    calls AS (
        SELECT * FROM tailrace.otel_traces
        WHERE otel_traces.query_id = chosen AND otel_traces.query_id != 0
            AND Timestamp >= range_start AND Timestamp < toDateTime64(range_end, 6, 'UTC')),
    {{ requests(of_traces='AND TraceId IN (SELECT TraceId FROM calls)') }},
    logged AS (
        SELECT query_events.trace_id AS trace_id, query_events.span_id AS span_id, max(query_time) AS logged_seconds,
            any(query_events.instance) AS instance
        FROM tailrace.query_events
        WHERE query_events.query_id = chosen AND query_events.trace_id != ''
            AND event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
        GROUP BY query_events.trace_id, query_events.span_id)
SELECT
    toDateTime(Timestamp, 'UTC') AS time,
    leftPad(hex(calls.query_id), 16, '0') AS query_id,
    TraceId AS trace_id,
    SpanId AS span_id,
    {{ service('ServiceName') }} AS service,
    {{ endpoint('calls.endpoint') }} AS endpoint,
    if(logged.instance = '', '(not in a slow log)', logged.instance) AS instance,
    Duration / 1e9 AS seconds,
    if(logged.instance = '', NULL, logged.logged_seconds) AS server_seconds,
    StatusCode = 'Error' AS failed,
    {{ link_to_trace('TraceId', "'trace'") }} AS link
FROM calls
LEFT JOIN requests ON requests.trace_id = calls.TraceId
LEFT JOIN logged ON logged.trace_id = calls.TraceId AND logged.span_id = calls.SpanId
