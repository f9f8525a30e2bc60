{%- include "parts/time_range.sql" -%}
-- Coverage of the log files: intervals of minutes in one state.
--
--     covered   every byte up to the end of the minute has been read and accounted for
--     behind    bytes of this or an earlier minute have not been read yet
--     missing   bytes by which the log grew in the minute are in an open gap: lost, and not yet shipped again
--     unknown   there is no census, so it is unknown whether the file grew
--
-- The view tailrace.coverage_1m defines the states, and tailrace.logs_of_period the logs. A log with lines but without a census
-- is unknown, and so is every log in the minutes of the range before it was first watched. The current minute is excluded.
--
-- Logs are numbered by a hash, and an interval lies between two minutes with different states: months contain millions
-- of minutes, which would otherwise be sorted by strings, or generated for minutes without a census.
WITH
    toStartOfMinute({{ utc(from_dttm) if from_dttm else "now('UTC') - INTERVAL 1 DAY" }}) AS range_start,
    toStartOfMinute(least({{ utc(to_dttm) if to_dttm else "now('UTC')" }}, now('UTC'))) AS range_end,
    toInt64(toUnixTimestamp(range_start)) AS first_second,
    toInt64(toUnixTimestamp(range_end)) AS end_second,
    judged AS (
        SELECT log_id, second, severity
        FROM tailrace.coverage_1m(first_minute = range_start, end_minute = range_end, server = '', kinds = [])
    ),
    (
        SELECT groupArray((cityHash64(instance, source, log), cluster, instance, source, log, first_second))
        FROM tailrace.logs_of_period(period_from = range_start, period_to = range_end)
    ) AS log_rows,
    logs AS (
        SELECT each.1 AS log_id, each.2 AS cluster, each.3 AS instance, each.4 AS source, each.5 AS log, each.6 AS since,
            concat(instance, ' · ', if(uniqExact(log) OVER (PARTITION BY instance, basename(log)) > 1, log, basename(log)))
                AS file
        FROM (SELECT arrayJoin(log_rows) AS each)
    ),
    edges AS (
        -- Minutes in which the state of a log changes. 255 and 254 are not states: they mark the time before the first
        -- census of a log and the end of the range, which are also edges.
        SELECT log_id, second, severity, second_before, severity_before
        FROM (
            SELECT log_id, second, severity,
                lagInFrame(second, 1, toInt64(0)) OVER its_minutes AS second_before,
                lagInFrame(severity, 1, 255) OVER its_minutes AS severity_before
            FROM (
                SELECT log_id, second, severity FROM judged
                UNION ALL
                SELECT log_id, end_second, 254 FROM logs WHERE since < end_second)
            WINDOW its_minutes AS (
                PARTITION BY log_id ORDER BY second ROWS BETWEEN 1 PRECEDING AND CURRENT ROW))
        WHERE severity != severity_before OR second > second_before + 60
    ),
    begins AS (
        -- An interval begins at each edge, and an interval of unknown minutes after the last census.
        SELECT log_id, arrayJoin(if(
            second > if(second_before = 0, since, second_before + 60),
            [(if(second_before = 0, since, second_before + 60), 0), (second, severity)],
            [(second, severity)])) AS begin
        FROM edges
        INNER JOIN logs USING (log_id)
    ),
    intervals AS (
        SELECT log_id, begin.1 AS from_second, begin.2 AS severity,
            leadInFrame(begin.1) OVER (
                PARTITION BY log_id ORDER BY begin.1 ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS to_second
        FROM begins
    )
SELECT
    cluster, instance, source, log,
    ['unknown', 'covered', 'behind', 'missing'][1 + severity] AS state,
    file,
    greatest(toDateTime(from_second, 'UTC'), {{ begin_of_range() }}) AS from_time,
    toDateTime(to_second, 'UTC') AS to_time,
    toUInt64(intDiv(to_second - from_second, 60)) AS minutes
FROM intervals
INNER JOIN logs USING (log_id)
WHERE severity < 254
