{%- include "parts/trace_requests.sql" -%}
{%- include "parts/utc.sql" -%}
-- Database calls within requests: one row per span, with its request.
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400" }} AS range_start,
    {{ requests() }}
SELECT
    toDateTime(Timestamp, 'UTC') AS time,
    TraceId AS trace_id,
    {{ service('ServiceName') }} AS service,
    {{ endpoint('otel_traces.endpoint') }} AS endpoint,
    if(otel_traces.database = '', '(none)', otel_traces.database) AS database,
    if(otel_traces.query_id = 0, '', leftPad(hex(otel_traces.query_id), 16, '0')) AS query_id,
    if(otel_traces.fingerprint = '', SpanName, otel_traces.fingerprint) AS query,
    Duration / 1e9 AS seconds,
    StatusCode = 'Error' AS failed
FROM tailrace.otel_traces
LEFT JOIN requests ON requests.trace_id = otel_traces.TraceId
WHERE (otel_traces.query_id != 0 OR otel_traces.fingerprint != '')
    AND Timestamp >= range_start AND Timestamp < toDateTime64(range_end, 6, 'UTC')
