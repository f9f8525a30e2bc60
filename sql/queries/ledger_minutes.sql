-- The state of each log in each minute of [from, to):
--
--     covered   every byte up to the end of the minute has been read
--     behind    bytes of this or an earlier minute have not been read yet
--     missing   bytes by which the log grew in the minute are in an open gap
--     unknown   there is no census, so it is unknown whether the log grew
--
-- The view tailrace.coverage_1m defines the states. A log with lines but without a census is unknown. A log without any
-- row for a week is considered retired.
-- Parameters: instance (empty: all); from, to: whole minutes, UTC.
WITH
    expected AS (
        SELECT instance, source, log,
            toDateTime(arrayJoin(range(
                toUInt32(greatest({from:DateTime('UTC')}, toStartOfMinute(toDateTime(min(at), 'UTC')))),
                toUInt32({to:DateTime('UTC')}), 60)), 'UTC') AS minute
        FROM tailrace.ledger
        WHERE kind IN ('CENSUS', 'FRONTIER') AND ({instance:String} = '' OR instance = {instance:String})
            AND at >= {from:DateTime('UTC')} - INTERVAL 7 DAY AND at < {to:DateTime('UTC')}
        GROUP BY instance, source, log
    )
SELECT instance, source, log, toUnixTimestamp(minute) AS minute_at,
    ['unknown', 'covered', 'behind', 'missing'][1 + severity] AS state,
    grown_bytes, behind_bytes, missing_bytes
FROM expected
LEFT JOIN (
    SELECT *
    FROM tailrace.coverage_1m(
        first_minute = {from:DateTime('UTC')}, end_minute = {to:DateTime('UTC')}, server = {instance:String}, kinds = [])
) AS coverage ON cityHash64(expected.instance, expected.source, expected.log) = coverage.log_id
    AND toInt64(toUnixTimestamp(expected.minute)) = coverage.second
ORDER BY instance, source, log, minute_at
