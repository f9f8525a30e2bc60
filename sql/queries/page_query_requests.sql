{%- include "parts/trace_requests.sql" -%}
-- The requests of applications that ran one statement, from their traces: one row per service and endpoint, by time in the
-- statement. `most_calls` is the largest number of calls in one request, that of `worst_trace`; `loops` are the requests with
-- at least five calls (N+1).
-- Parameters: from, to, query_ids.
WITH
    calls AS (
        SELECT
            TraceId AS trace_id, count() AS calls_each, sum(Duration) / 1e9 AS seconds,
            any(otel_traces.endpoint) AS commented, any(ServiceName) AS caller
        FROM tailrace.otel_traces
        WHERE otel_traces.query_id IN {query_ids:Array(UInt64)} AND otel_traces.query_id != 0
            AND Timestamp >= {from:DateTime('UTC')} AND Timestamp < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        GROUP BY TraceId),
    {{ requests("{from:DateTime('UTC')}", "{to:DateTime('UTC')}", 'AND TraceId IN (SELECT trace_id FROM calls)') }}
SELECT
    toString({{ service('caller') }}) AS service,
    toString(if(served = '', commented, served)) AS endpoint,
    count() AS requests, sum(calls_each) AS calls, sum(seconds) AS total_seconds,
    countIf(calls_each >= 5) AS loops, max(calls_each) AS most_calls, argMax(calls.trace_id, (calls_each, calls.trace_id)) AS worst_trace
FROM calls
LEFT JOIN requests USING (trace_id)
GROUP BY service, endpoint
ORDER BY total_seconds DESC, service, endpoint
LIMIT 50
