-- The state of each log in each minute of [from, to):
--
--     covered   every byte up to the end of the minute has been read
--     behind    bytes of this or an earlier minute have not been read yet
--     missing   bytes by which the log grew in the minute are in an open gap
--     unknown   there is no census, so it is unknown whether the log grew
--
-- The view tailrace.coverage_1m defines the states, and tailrace.logs_of_period the logs. A log with lines but without a census
-- is unknown, and so is every log in the minutes before it was first watched.
-- Parameters: instance (empty: all); from, to: whole minutes, UTC.
WITH
    expected AS (
        SELECT instance, source, log,
            toDateTime(arrayJoin(range(toUInt32({from:DateTime('UTC')}), toUInt32({to:DateTime('UTC')}), 60)), 'UTC') AS minute
        FROM tailrace.logs_of_period(period_from = {from:DateTime('UTC')}, period_to = {to:DateTime('UTC')})
        WHERE {instance:String} = '' OR instance = {instance:String}
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
