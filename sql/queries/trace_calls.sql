{%- include "parts/utc.sql" -%}
-- Database calls within requests: one row per span, with its request.
--
-- The request of a trace is its first server span, because the endpoint is that of the outermost request. A trace whose
-- request is missing is named by the comments of its statements, or remains without a name.
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400" }} AS range_start,
    requests AS (
        SELECT
            TraceId AS trace_id,
            argMin(otel_traces.endpoint, Timestamp) AS served,
            argMin(ServiceName, Timestamp) AS root_service
        FROM tailrace.otel_traces
        WHERE SpanKind IN ('Server', 'Consumer') AND Timestamp >= range_start - 600 AND Timestamp < range_end + 600
        GROUP BY TraceId)
SELECT
    toDateTime(Timestamp, 'UTC') AS time,
    TraceId AS trace_id,
    if(requests.root_service = '', ServiceName, requests.root_service) AS service,
    multiIf(requests.served != '', requests.served, otel_traces.endpoint != '', otel_traces.endpoint, '(unknown)')
        AS endpoint,
    if(otel_traces.database = '', '(none)', otel_traces.database) AS database,
    if(otel_traces.query_id = 0, '', leftPad(hex(otel_traces.query_id), 16, '0')) AS query_id,
    if(otel_traces.fingerprint = '', SpanName, otel_traces.fingerprint) AS query,
    Duration / 1e9 AS seconds,
    StatusCode = 'Error' AS failed
FROM tailrace.otel_traces
LEFT JOIN requests ON requests.trace_id = otel_traces.TraceId
WHERE (otel_traces.query_id != 0 OR otel_traces.fingerprint != '')
    AND Timestamp >= range_start AND Timestamp < range_end
