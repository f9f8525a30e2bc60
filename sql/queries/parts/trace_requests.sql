{#- The request of a trace is its first server span, because the endpoint is that of the outermost request. A trace whose request is
    missing is named by the comments of its statements, or remains without a name. -#}
{#- Requests by trace, for a WITH: those that began at most ten minutes around a time range. `of_traces`: a condition on TraceId
    that begins with AND. -#}
{%- macro requests(since='range_start', until='range_end', of_traces='') -%}
    requests AS (
        SELECT
            TraceId AS trace_id,
            argMin(otel_traces.endpoint, Timestamp) AS served,
            argMin(ServiceName, Timestamp) AS root_service
        FROM tailrace.otel_traces
        WHERE SpanKind IN ('Server', 'Consumer') AND Timestamp >= {{ since }} - 600 AND Timestamp < toDateTime64({{ until }}, 6, 'UTC') + 600
            {{ of_traces }}
        GROUP BY TraceId)
{%- endmacro -%}
{#- The service and the endpoint of a request. `sender` and `commented` are those of the span of
    the statement. -#}
{%- macro service(sender) -%} if(requests.root_service = '', {{ sender }}, requests.root_service) {%- endmacro -%}
{%- macro endpoint(commented) -%}
    multiIf(requests.served != '', requests.served, {{ commented }} != '', {{ commented }}, '(unknown)')
{%- endmacro -%}
