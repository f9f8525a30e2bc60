-- Slow query logs of which a period is expected to be known (tailrace.logs_of_period), and how many of them were not read in each
-- of its minutes: statements of these servers ran an unknown number of times. One server's log says nothing about another.
-- The last two minutes before now are not expected: a census takes as long to arrive.
-- Parameters: from, to, clusters and servers (empty for all).
WITH
    toStartOfMinute({from:DateTime('UTC')}) AS begin_minute,
    toStartOfMinute({to:DateTime('UTC')}) AS last_minute,
    least(last_minute, toStartOfMinute(now('UTC')) - INTERVAL 2 MINUTE) AS expected_until,
    dateDiff('minute', begin_minute, expected_until) AS expected_minutes,
    if(length({servers:Array(String)}) = 1, {servers:Array(String)}[1], '') AS only_server
SELECT count() AS slow_logs,
    countIf(covered = 0 OR covered_expected < expected_minutes OR lost > 0) AS unread_logs
FROM (
    SELECT cityHash64(instance, source, log) AS log_id
    FROM tailrace.logs_of_period(period_from = begin_minute, period_to = last_minute)
    WHERE source = 'slowlog'
        AND (empty({clusters:Array(String)}) OR cluster IN {clusters:Array(String)})
        AND (empty({servers:Array(String)}) OR instance IN {servers:Array(String)})
) AS logs
LEFT JOIN (
    SELECT log_id, countIf(severity = 1) AS covered,
        countIf(severity = 1 AND second < toInt64(toUnixTimestamp(expected_until))) AS covered_expected,
        countIf(severity = 3) AS lost
    FROM tailrace.coverage_1m(
        first_minute = begin_minute, end_minute = last_minute, server = only_server, kinds = ['slowlog'])
    GROUP BY log_id
) AS minutes ON logs.log_id = minutes.log_id
