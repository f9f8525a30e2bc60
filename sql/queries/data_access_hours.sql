{%- include "parts/time_range.sql" -%}
{%- include "parts/data_access.sql" -%}
-- Accesses by hour of the week: one row per record, class and access, with hour and weekday (UTC), and a row without an
-- action for each hour of the week, so that hours without access are drawn.
WITH
    {{ shown_range(7) }},
    {{ touches() }} AS touched,
    ['1 Mon', '2 Tue', '3 Wed', '4 Thu', '5 Fri', '6 Sat', '7 Sun'] AS weekdays
SELECT
    toDateTime(data_access.event_time, 'UTC') AS accessed_at,
    {{ whose() }},
    arrayJoin(touched).1 AS data_class, '' AS access,
    formatDateTime(accessed_at, '%H') AS hour, weekdays[toDayOfWeek(accessed_at)] AS weekday
FROM tailrace.data_access_by_action(begin = range_start, until = range_end) AS data_access
UNION ALL
SELECT
    {{ end_of_range() }} AS accessed_at,
    {{ passes_filter_on('cluster') }}, {{ passes_filter_on('instance') }}, {{ passes_filter_on('user') }},
    {{ passes_filter_on('src_ip') }}, {{ passes_filter_on('origin') }}, {{ passes_filter_on('program') }},
    {{ passes_filter_on('database') }}, NULL AS action,
    {{ passes_filter_on('data_class') }}, {{ passes_filter_on('access') }},
    leftPad(toString(number % 24), 2, '0') AS hour, weekdays[1 + intDiv(number, 24)] AS weekday
FROM numbers(7 * 24)
