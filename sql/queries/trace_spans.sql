{%- include "parts/links.sql" -%}
{%- include "parts/utc.sql" -%}
-- The spans of the traces in the filter, or of the trace with the longest span: operation, order and duration.
{%- macro passes(column, filter) -%}
    {%- set values = filter_values(filter) -%}
    {%- if values %}
        AND {{ column }} IN {{ values | where_in }}
    {%- endif -%}
{%- endmacro %}
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400" }} AS range_start
SELECT
    identity(Timestamp) AS time,
    TraceId AS trace_id,
    SpanId AS span_id,
    ParentSpanId AS parent_span_id,
    ServiceName AS service,
    SpanKind AS kind,
    if(fingerprint = '', SpanName, fingerprint) AS operation,
    endpoint,
    if(query_id = 0, '', leftPad(hex(query_id), 16, '0')) AS query_id,
    Duration / 1e9 AS seconds,
    StatusCode AS status,
    if(query_id = '', '', {{ link_to_query('query_id', "'open'") }}) AS link
FROM tailrace.otel_traces
WHERE Timestamp >= range_start AND Timestamp < toDateTime64(range_end, 6, 'UTC')
{%- if not filter_values('trace_id') %}
    AND TraceId IN (
        SELECT longest.TraceId
        FROM tailrace.otel_traces AS longest
        WHERE longest.Timestamp >= range_start AND longest.Timestamp < toDateTime64(range_end, 6, 'UTC')
        {{- passes('longest.ServiceName', 'service') }}
        {{- passes('longest.endpoint', 'endpoint') }}
        {{- passes("if(longest.query_id = 0, '', leftPad(hex(longest.query_id), 16, '0'))", 'query_id') }}
        ORDER BY longest.Duration DESC, longest.TraceId
        LIMIT 1)
{%- endif %}
