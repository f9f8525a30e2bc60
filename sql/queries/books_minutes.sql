-- Which minutes of which log were seen, one row per log and minute of [from, to):
--
--     covered   every byte that the log's files grew by has been read
--     behind    some of those bytes have not been read yet
--     missing   some of them are in an open gap
--     unknown   no census looked at the log, so nobody can say whether it grew
--
-- tailrace.coverage_1m says how the states are found. A log of which lines came and no census is unknown. One of which
-- nothing has come for a week is taken as retired.
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
) AS seen ON cityHash64(expected.instance, expected.source, expected.log) = seen.log_id
    AND toInt64(toUnixTimestamp(expected.minute)) = seen.second
ORDER BY instance, source, log, minute_at
