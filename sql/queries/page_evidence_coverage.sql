-- Minutes of the audit and general logs of each server in a period by state, for the gaps of the page Evidence; see
-- coverage_days.sql. Minutes before a log was first watched are counted separately, as in the evidence.
-- Parameters: from, to.
WITH
    {from:DateTime('UTC')} AS range_start,
    {to:DateTime('UTC')} AS range_end,
{%- include "parts/coverage_minutes.sql" -%}
    ,
    watched AS (
        SELECT instance, source, log,
            toUInt64(dateDiff('minute', first_minute, least(end_minute, greatest(first_minute, toStartOfMinute(toDateTime(min(at), 'UTC'))))))
                AS minutes_before
        FROM tailrace.ledger
        WHERE kind IN ('CENSUS', 'FRONTIER') AND at >= known_since AND at < end_minute
        GROUP BY instance, source, log
    ),
    by_log AS (
        SELECT cluster, instance, source, log, sum(expected) AS minutes, sum(days.census_minutes) AS with_census,
            sum(missing_minutes) AS missing, sum(behind_minutes) AS behind
        FROM days
        LEFT JOIN not_covered USING (instance, source, log, day)
        WHERE source IN ('audit', 'general')
        GROUP BY cluster, instance, source, log
    )
SELECT cluster, instance, source, log,
    toInt64(minutes_before) AS before_first,
    toInt64(missing) AS missing,
    toInt64(behind) AS behind,
    greatest(0, toInt64(minutes) - toInt64(with_census) - toInt64(minutes_before)) AS unknown,
    toInt64(minutes) - toInt64(minutes_before) AS expected
FROM by_log
LEFT JOIN watched USING (instance, source, log)
ORDER BY instance, source, log
