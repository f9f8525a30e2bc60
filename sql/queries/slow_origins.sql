{%- include "parts/statement.sql" -%}
{%- include "parts/logging.sql" -%}
{%- include "parts/display_names.sql" -%}
-- Origins of slow statements from their comments (sqlcommenter, Rails, Marginalia): the application, and the route,
-- controller or job. Percentiles are computed over `seconds` weighted with `weight`, never averaged, and cover the time
-- since the logging settings of each server last changed (`latest`). For ranges over two days, `seconds` is the bucket
-- of the rollups (within 1 %), like on the rest of the dashboard: a percentile of millions of distinct times would have
-- to store each of them.
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400" }} AS range_start,
    range_end - range_start <= 2 * 86400 AS exact,
    {{ logging_of_range() }},
    {{ latest_changes() }}
SELECT
    toDateTime(event_time, 'UTC') AS time, cluster, instance, {{ named('database') }}, {{ named('user') }},
    leftPad(hex(statement), 16, '0') AS query_id,
    query_events.query_id AS statement,
    if(query_events.application = '', '(no tag)', query_events.application) AS application,
    if(query_events.endpoint = '', '(no tag)', query_events.endpoint) AS endpoint,
    if(exact OR query_events.query_time <= 0, query_events.query_time,
        pow(1.02, round(log(query_events.query_time) / log(1.02)))) AS seconds,
    query_events.weight AS weight,
    query_events.query_time * query_events.weight AS query_time,
    {{ is_latest('instance', 'event_time') }} AS latest,
    {{ logged_by('instance') }} AS logged
FROM tailrace.query_events
WHERE event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
