{#- Minutes of each log and day of a range by state, for a WITH that defines range_start and range_end: `days`, with `expected`,
    `census_minutes` (those with a census), `missing_minutes` and `behind_minutes`. tailrace.coverage_1m defines the states.
    All minutes of the range are expected of each of the logs_of_period: those without a census are unknown.
    `kinds_of_logs`, a list as SQL, has the kinds of logs whose minutes are read; all if it is not set. -#}
    toStartOfMinute(range_start) AS first_minute,
    toStartOfMinute(least(range_end, now('UTC'))) AS end_minute,
    judged AS (
        SELECT log_id, toDate(toDateTime(second, 'UTC')) AS day, count() AS census_minutes,
            countIf(severity = 3) AS missing_minutes, countIf(severity = 2) AS behind_minutes
        FROM tailrace.coverage_1m(
            first_minute = toStartOfMinute(range_start), end_minute = toStartOfMinute(least(range_end, now('UTC'))),
            server = '', kinds = {{ kinds_of_logs | default('[]') }})
        GROUP BY log_id, day
    ),
    days AS (
        SELECT cluster, instance, source, log, day,
            dateDiff('minute', greatest(first_minute, toStartOfDay(day, 'UTC')), least(end_minute, toStartOfDay(day + 1, 'UTC')))
                AS expected,
            judged.census_minutes AS census_minutes, judged.missing_minutes AS missing_minutes,
            judged.behind_minutes AS behind_minutes
        FROM (
            SELECT cluster, instance, source, log, cityHash64(instance, source, log) AS log_id,
                toDate(first_minute) + arrayJoin(range(
                    toUInt64(dateDiff('day', first_minute, end_minute - INTERVAL 1 SECOND) + 1))) AS day
            FROM tailrace.logs_of_period(period_from = first_minute, period_to = end_minute)
            WHERE first_minute < end_minute {%- if kinds_of_logs is defined %} AND has({{ kinds_of_logs }}, source){% endif %}) AS expected_logs
        LEFT JOIN judged USING (log_id, day)
    )
