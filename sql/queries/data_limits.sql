{%- include "parts/time_range.sql" -%}
{%- include "parts/logging.sql" -%}
-- What limits the numbers of a dashboard: for each server and kind of log its minutes by state, with the states of
-- coverage.sql, and for each server with slow queries the logging settings (`logged`).
WITH
    {{ shown_range(1) }},
    {{ logging_of_range() }},
{%- include "parts/coverage_minutes.sql" -%}
SELECT cluster, instance, source, part.1 AS minute_state, toInt64(part.2) AS minutes, '' AS logged
FROM days
LEFT JOIN not_covered USING (instance, source, log, day)
ARRAY JOIN arrayFilter(each -> each.2 > 0, [
    ('covered', toInt64(census_minutes) - missing_minutes - behind_minutes), ('behind', toInt64(behind_minutes)),
    ('missing', toInt64(missing_minutes)), ('unknown', toInt64(expected) - census_minutes)]) AS part
UNION ALL
SELECT cluster, instance, 'slowlog', 'logged', 0, {{ logged_by('instance') }}
FROM tailrace.query_load_1m
WHERE minute >= range_start AND minute < range_end
GROUP BY cluster, instance
