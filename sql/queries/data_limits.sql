{%- include "parts/time_range.sql" -%}
{%- include "parts/logging.sql" -%}
-- What limits the numbers of a dashboard: for each server and kind of log its minutes by state, and for each server with slow
-- queries the logging settings (`logged`). States are those of coverage.sql, and `before`: the minutes before the first census
-- of a log, which is at `first_census`, and `never`: all minutes of a log that is listed and of which nothing ever arrived.
WITH
    {{ shown_range(1) }},
    {{ logging_of_range() }},
{%- include "parts/coverage_minutes.sql" -%}
    ,
    first_censuses AS (
        -- 1970 without a census. By kind, because the projection files_by_day has these minima.
        SELECT instance, source, log, toStartOfMinute(toDateTime(minIf(first_at, kind = 'CENSUS'), 'UTC')) AS known_from,
            true AS has_arrived
        FROM (
            SELECT instance, source, log, kind, min(at) AS first_at
            FROM tailrace.ledger
            WHERE kind IN ('CENSUS', 'FRONTIER')
            GROUP BY instance, source, log, kind)
        GROUP BY instance, source, log
    )
SELECT
    cluster, instance, source, part.1 AS minute_state, toInt64(part.2) AS minutes, '' AS logged,
    greatest(0, dateDiff(
        'minute', greatest(first_minute, toStartOfDay(day, 'UTC')),
        least(known_from, end_minute, toStartOfDay(day + 1, 'UTC')))) AS before_minutes,
    known_from AS first_census
FROM days
LEFT JOIN first_censuses USING (instance, source, log)
ARRAY JOIN arrayFilter(each -> each.2 > 0, [
    ('covered', toInt64(census_minutes) - missing_minutes - behind_minutes), ('behind', toInt64(behind_minutes)),
    ('missing', toInt64(missing_minutes)), ('before', toInt64(before_minutes)),
    (if(has_arrived, 'unknown', 'never'), toInt64(expected) - census_minutes - before_minutes)]) AS part
UNION ALL
SELECT cluster, instance, 'slowlog', 'logged', 0, {{ logged_by('instance') }}, 0, toDateTime(0, 'UTC')
FROM (
    -- Whole days between the first and the last one, and the minutes of those.
    SELECT cluster, instance FROM tailrace.log_days
    WHERE source = 'slowlog' AND record_day > toDate(range_start) AND record_day < toDate(range_end)
    UNION ALL
    SELECT cluster, instance FROM tailrace.query_load_1m
    WHERE minute >= range_start AND minute < range_end AND toDate(minute) IN (toDate(range_start), toDate(range_end)))
GROUP BY cluster, instance
