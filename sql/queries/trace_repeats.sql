{%- include "parts/trace_requests.sql" -%}
{%- include "parts/utc.sql" -%}
-- Statements that one request ran many times: a loop in place of a join or an IN list (N+1).
--
-- One row per trace and statement with at least five executions.
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400" }} AS range_start,
    {{ requests() }},
    calls AS (
        SELECT
            TraceId AS trace_id,
            otel_traces.query_id AS id,
            any(otel_traces.fingerprint) AS query,
            any(otel_traces.endpoint) AS commented,
            any(otel_traces.ServiceName) AS caller,
            any(otel_traces.database) AS database,
            toDateTime(min(Timestamp), 'UTC') AS time,
            count() AS repeats,
            sum(Duration) / 1e9 AS seconds
        FROM tailrace.otel_traces
        WHERE otel_traces.query_id != 0 AND Timestamp >= range_start AND Timestamp < toDateTime64(range_end, 6, 'UTC')
        GROUP BY TraceId, otel_traces.query_id
        HAVING repeats >= 5)
SELECT
    time, trace_id,
    {{ service('caller') }} AS service,
    {{ endpoint('commented') }} AS endpoint,
    database,
    leftPad(hex(id), 16, '0') AS query_id,
    query, repeats, seconds
FROM calls
LEFT JOIN requests USING (trace_id)
