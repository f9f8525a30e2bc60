{%- include "parts/trace_requests.sql" -%}
{%- include "parts/utc.sql" -%}
-- Endpoints by the time that their requests waited for databases, each with its change against the earlier period
-- (parts/earlier.sql). The filters are applied here: the rows are endpoints, which no longer have a query id or a trace.
--
-- A change is a text. `no data before`: the service sent no span in the earlier period; `incomplete before`: its spans began
-- after the first tenth of it, so that sums are not comparable (a service that had sent spans earlier sends them rarely instead);
-- `new`: the service sent spans, but none of the endpoint. The p95 needs 20 requests in both intervals.
{%- macro filtered(column) -%}
    {%- set picked = filter_values(column, remove_filter=True) -%}
    {%- if picked %} AND {{ column }} IN {{ picked | where_in }}{% endif -%}
{%- endmacro -%}
{#- `few`: more cases of a multiIf. -#}
{%- macro change(now, before, needs_all, few='') -%}
    multiIf(
        began = 0 OR began >= range_start, 'no data before',
        {% if needs_all %}began > toDateTime64(before_start, 6, 'UTC') + intDiv(shown, 10), 'incomplete before',{% endif %}
        requests_before = 0, 'new', {{ few }}
        {{ before }} = 0, if({{ now }} = 0, 'unchanged', 'new'),
        {{ now }} / {{ before }} >= 10, concat(toString(round({{ now }} / {{ before }})), '×'),
        round(100 * ({{ now }} / {{ before }} - 1)) = 0, 'unchanged',
        concat(if({{ now }} > {{ before }}, '+', ''), toString(round(100 * ({{ now }} / {{ before }} - 1))), ' %'))
{%- endmacro %}
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400" }} AS range_start,
{%- include "parts/earlier.sql" -%}
    ,
    {{ requests(since='before_start') }},
    services AS (
        SELECT toString(ServiceName) AS sender, min(Timestamp) AS began
        FROM tailrace.otel_traces
        WHERE Timestamp >= before_start - shown AND Timestamp < toDateTime64(range_start, 6, 'UTC')
        GROUP BY sender),
    calls AS (
        SELECT
            TraceId AS trace_id, Timestamp >= range_start AS is_now, Duration / 1e9 AS seconds,
            toString({{ service('ServiceName') }}) AS service,
            {{ endpoint('otel_traces.endpoint') }} AS endpoint,
            if(otel_traces.query_id = 0, '', leftPad(hex(otel_traces.query_id), 16, '0')) AS query_id,
            StatusCode = 'Error' AS has_failed
        FROM tailrace.otel_traces
        LEFT JOIN requests ON requests.trace_id = otel_traces.TraceId
        WHERE (otel_traces.query_id != 0 OR otel_traces.fingerprint != '')
            AND Timestamp >= before_start AND Timestamp < toDateTime64(range_end, 6, 'UTC') AND (Timestamp < toDateTime64(before_end, 6, 'UTC') OR Timestamp >= range_start)
            {{ filtered('service') }}{{ filtered('endpoint') }}{{ filtered('query_id') }}{{ filtered('trace_id') }}),
    of_requests AS (
        SELECT service, endpoint, trace_id, is_now, sum(seconds) AS its_seconds, count() AS its_calls, sum(has_failed) AS its_failures
        FROM calls
        GROUP BY service, endpoint, trace_id, is_now),
    endpoints AS (
        SELECT
            service, endpoint,
            sumIf(its_seconds, is_now) AS database_seconds, sumIf(its_seconds, NOT is_now) AS seconds_before,
            countIf(is_now) AS requests, countIf(NOT is_now) AS requests_before,
            sumIf(its_calls, is_now) AS calls, sumIf(its_calls, NOT is_now) AS calls_before,
            quantileExactWeightedIf(0.95)(its_seconds, 1, is_now) AS p95,
            quantileExactWeightedIf(0.95)(its_seconds, 1, NOT is_now) AS p95_before,
            sumIf(its_failures, is_now) AS failures
        FROM of_requests
        GROUP BY service, endpoint
        HAVING requests > 0)
SELECT
    endpoint, service, database_seconds,
    {{ change('database_seconds', 'seconds_before', true) }} AS database_change,
    database_seconds / nullIf(sum(database_seconds) OVER (), 0) AS share,
    requests, p95,
    {{ change('p95', 'p95_before', false, "least(requests, requests_before) < 20, 'few requests',") }} AS p95_change,
    calls,
    {{ change('calls', 'calls_before', true) }} AS calls_change,
    calls / requests AS queries_each, failures
FROM endpoints
LEFT JOIN services ON services.sender = endpoints.service
