-- Coverage of each log in the period, as intervals of minutes in one state: covered, behind, missing, unknown.
-- ledger_minutes.sql describes the states, the view tailrace.coverage_1m defines them, and tailrace.logs_of_period the logs: also
-- those of which records of the period are stored, and that were first watched later. Minutes without a census are unknown,
-- and with them their bytes.
-- Logs are numbered by a hash: months contain millions of minutes, which would otherwise be sorted by strings.
-- Parameters: from, to.
WITH
    logs AS (
        SELECT cityHash64(instance, source, log) AS log_id, instance, source, log
        FROM tailrace.logs_of_period(period_from = {from:DateTime('UTC')}, period_to = {to:DateTime('UTC')})
    ),
    expected AS (
        SELECT log_id,
            arrayJoin(range(toUnixTimestamp({from:DateTime('UTC')}), toUnixTimestamp({to:DateTime('UTC')}), 60)) AS second
        FROM logs
    ),
    states AS (
        SELECT expected.log_id AS log_id, expected.second AS second, grown_bytes AS grown, missing_bytes AS missing,
            ['unknown', 'covered', 'behind', 'missing'][1 + severity] AS state
        FROM expected
        LEFT JOIN (
            SELECT log_id, toUInt32(second) AS second, grown_bytes, missing_bytes, severity
            FROM tailrace.coverage_1m(
                first_minute = {from:DateTime('UTC')}, end_minute = {to:DateTime('UTC')}, server = '', kinds = [])
        ) AS coverage ON expected.log_id = coverage.log_id AND expected.second = coverage.second
    ),
    intervals AS (
        SELECT log_id, state, min(second) AS from_second, max(second) + 60 AS to_second,
            count() AS minutes, sum(grown) AS written, sum(missing) AS missing_bytes
        FROM (
            SELECT *, toInt64(second) - 60 * row_number() OVER (PARTITION BY log_id, state ORDER BY second) AS interval_key
            FROM states)
        GROUP BY log_id, state, interval_key
    )
SELECT instance, source, log, state,
    toDateTime(from_second, 'UTC') AS from_time, toDateTime(to_second, 'UTC') AS to_time, minutes,
    if(state = 'unknown', NULL, written) AS bytes_written, if(state = 'unknown', NULL, missing_bytes) AS bytes_missing
FROM intervals
INNER JOIN logs USING (log_id)
ORDER BY instance, source, log, from_time
