-- Minutes of the audit and general logs of each server in a period by state, for the gaps of the page Evidence; see
-- coverage_days.sql. `minutes` are those of the period until now, `watched` those with a census. Parameters: from, to.
WITH
    {from:DateTime('UTC')} AS range_start,
    {to:DateTime('UTC')} AS range_end,
{%- set kinds_of_logs = "['audit', 'general']" -%}
{%- include "parts/coverage_minutes.sql" -%}
    ,
    by_log AS (
        SELECT cluster, instance, source, log, sum(expected) AS all_minutes, sum(days.census_minutes) AS with_census,
            sum(missing_minutes) AS missing_in_log, sum(behind_minutes) AS behind_in_log
        FROM days
        GROUP BY cluster, instance, source, log
    )
SELECT cluster, instance, source, log,
    toInt64(missing_in_log) AS missing,
    toInt64(behind_in_log) AS behind,
    toInt64(all_minutes) - toInt64(with_census) AS unknown,
    toInt64(with_census) AS watched,
    toInt64(all_minutes) AS minutes
FROM by_log
ORDER BY instance, source, log
