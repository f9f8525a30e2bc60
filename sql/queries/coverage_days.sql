{%- include "parts/time_range.sql" -%}
-- Minutes of each log and day by state, with the states of coverage.sql: covered, behind, missing, unknown. All minutes of the range
-- count: those before a log was first watched are unknown. `time` is the beginning of the day, and `at` is within the range.
WITH
    {{ shown_range(7) }},
{%- include "parts/coverage_minutes.sql" -%}
SELECT
    toDateTime(day, 'UTC') AS time,
    greatest(time, {{ begin_of_range() }}) AS at,
    toString(day) AS day_shown,
    cluster, instance, source, log,
    concat(instance, ' · ', source) AS server_log,
    part.1 AS state,
    part.2 AS minutes
FROM days
ARRAY JOIN arrayFilter(each -> each.2 > 0, [
    ('covered', toInt64(census_minutes) - missing_minutes - behind_minutes), ('behind', toInt64(behind_minutes)),
    ('missing', toInt64(missing_minutes)), ('unknown', toInt64(expected) - census_minutes)]) AS part
