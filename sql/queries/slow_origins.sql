{%- include "parts/statement.sql" -%}
{%- include "parts/logging.sql" -%}
-- Who asked for slow statements, as their comments (sqlcommenter, Rails, Marginalia) say: the application, and the route,
-- controller or job. Percentiles are taken over `seconds` weighted with `weight`; they are never averaged,
-- and are of the time since each server last began to log differently (`latest`).
{%- macro named(column) -%} if({{ column }} = '', '(none)', {{ column }}) AS {{ column }} {%- endmacro %}
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400" }} AS range_start,
    {{ logging_of_range() }},
    {{ latest_changes() }}
SELECT
    toDateTime(event_time, 'UTC') AS time, cluster, instance, {{ named('database') }}, {{ named('user') }},
    leftPad(hex(query_events.query_id), 16, '0') AS query_id,
    coalesce(nullIf(tags['application'], ''), nullIf(tags['app'], ''), '(no tag)') AS application,
    coalesce(
        nullIf(tags['route'], ''),
        if(tags['controller'] = '', NULL, concat(tags['controller'], '#', tags['action'])),
        nullIf(tags['job'], ''), '(no tag)') AS endpoint,
    query_events.query_time AS seconds,
    query_events.weight AS weight,
    query_events.query_time * query_events.weight AS query_time,
    {{ is_latest('instance', 'event_time') }} AS latest,
    {{ logged_by('instance') }} AS logged
FROM tailrace.query_events
WHERE event_time >= range_start AND event_time < range_end
