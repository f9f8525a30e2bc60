{%- include "parts/statement.sql" -%}
{%- include "parts/logging.sql" -%}
-- Executions of one statement: one row per entry of a slow log, for charts over time and for totals.
--
-- `time` is a bucket whose width follows the time range, so that a chart has at most about 200 points. Empty rows are
-- added for every bucket: time without entries is drawn as no executions and as a break in the percentiles. Percentiles
-- are computed over `seconds` weighted with `weight`, never averaged, and never across a change of the logging settings
-- of a server: see load.sql for `changed` and `latest`.
{%- macro passes_filter_on(column) -%}
    array{{ (filter_values(column) or ['']) | where_in }}[1] AS {{ column }}
{%- endmacro %}
WITH
    {{ chosen_statement() }},
    {{ known_ids() }},
    {{ bucket_width() }},
    {{ latest_changes() }},
    changed_in AS (
        SELECT groupUniqArray(intDiv(toUInt32(since), width) * width) AS buckets FROM (
            SELECT instance, since, min(since) OVER (PARTITION BY instance) AS first_since
            FROM tailrace.effective_logging_settings
            WHERE since < range_end {{- passes('instance') }})
        WHERE since > first_since AND instance IN (
            SELECT instance FROM tailrace.query_events
            WHERE query_id GLOBAL IN (SELECT id FROM known_ids) AND event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')))
SELECT
    toDateTime(intDiv(toUInt32(executed_at), width) * width, 'UTC') AS time,
    toDateTime(event_time, 'UTC') AS executed_at,
    leftPad(hex(ifNull(chosen, 0)), 16, '0') AS query_id,
    query_events.cluster AS cluster, query_events.instance AS instance,
    if(query_events.database = '', '(none)', query_events.database) AS database,
    if(query_events.user = '', '(none)', query_events.user) AS user,
    coalesce(
        nullIf(tags['application'], ''), nullIf(tags['app'], ''), nullIf(client_host, ''),
        nullIf(client_ip, ''), '(unknown)') AS program,
    coalesce(nullIf(client_host, ''), nullIf(client_ip, ''), '(unknown)') AS host,
    coalesce(
        nullIf(tags['route'], ''),
        if(tags['controller'] = '', NULL, concat(tags['controller'], '#', tags['action'])),
        nullIf(tags['job'], ''), '(unknown)') AS endpoint,
    multiIf(
        query_events.plan_hash != '', toString(query_events.plan_hash),
        captured.captured_plan != '', captured.captured_plan,
        '(unknown)') AS plan_hash,
    query_events.query_time AS seconds,
    1 AS entries,
    query_events.weight AS weight,
    query_events.query_time * query_events.weight AS query_time,
    query_events.rows_examined * query_events.weight AS rows_examined,
    query_events.rows_sent * query_events.weight AS rows_sent,
    multiIf(error_code IS NULL, NULL, error_code != 0, query_events.weight, 0) AS errors,
    0 AS changed,
    {{ is_latest('query_events.instance', 'event_time') }} AS latest
FROM tailrace.query_events
ASOF LEFT JOIN (
    SELECT plan_captures.instance AS instance, captured_at, toString(plan_captures.plan_hash) AS captured_plan
    FROM tailrace.plan_captures FINAL
    WHERE plan_captures.query_id = chosen AND status = 'ok' AND plan_captures.plan_hash != ''
) AS captured ON captured.instance = query_events.instance AND captured.captured_at <= query_events.event_time
WHERE query_events.query_id GLOBAL IN (SELECT id FROM known_ids) AND event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
UNION ALL
SELECT
    toDateTime(arrayJoin(range(intDiv(toUInt32(range_start), width) * width, toUInt32(range_end), width)), 'UTC') AS time,
    greatest(time, range_start) AS executed_at,
    leftPad(hex(ifNull(chosen, 0)), 16, '0') AS query_id,
    {{ passes_filter_on('cluster') }}, {{ passes_filter_on('instance') }}, {{ passes_filter_on('database') }},
    {{ passes_filter_on('user') }}, {{ passes_filter_on('program') }}, '' AS host, {{ passes_filter_on('endpoint') }},
    {{ passes_filter_on('plan_hash') }},
    0, 0, 0, 0, 0, 0, NULL,
    has((SELECT buckets FROM changed_in), toUInt32(time)), 1
