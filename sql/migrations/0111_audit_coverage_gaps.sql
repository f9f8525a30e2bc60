-- Minutes of the last 90 days in which an audit or general log was not `covered`: one row per interval of one log and
-- state, and one row with the state `no audit log` for each server without such a log. It replaces minutes_without_audit.
-- Each user reads it with the user's own privileges.
CREATE VIEW IF NOT EXISTS tailrace.audit_coverage_gaps {on_cluster}
SQL SECURITY INVOKER AS
WITH
    toStartOfMinute(now('UTC') - INTERVAL 90 DAY) AS first_minute,
    toStartOfMinute(now('UTC')) AS end_minute,
    expected AS (
        SELECT instance, source, log,
            toDateTime(arrayJoin(range(toUInt32(greatest(first_minute, toStartOfMinute(toDateTime(min(at), 'UTC')))),
                toUInt32(end_minute), 60)), 'UTC') AS minute
        FROM tailrace.ledger
        WHERE kind IN ('CENSUS', 'FRONTIER') AND source IN ('audit', 'general')
            AND at >= first_minute - INTERVAL 7 DAY AND at < end_minute
        GROUP BY instance, source, log
    ),
    states AS (
        SELECT expected.instance AS instance, expected.source AS source, expected.log AS log, expected.minute AS minute,
            ['unknown', 'covered', 'behind', 'missing'][1 + severity] AS state
        FROM expected
        LEFT JOIN (
            SELECT log_id, second, severity
            FROM tailrace.coverage_1m(
                first_minute = toStartOfMinute(now('UTC') - INTERVAL 90 DAY), end_minute = toStartOfMinute(now('UTC')),
                server = '', kinds = ['audit', 'general'])) AS coverage
            ON cityHash64(expected.instance, expected.source, expected.log) = coverage.log_id
            AND toInt64(toUnixTimestamp(expected.minute)) = coverage.second
    )
SELECT instance, source, log, state, min(minute) AS from_time, max(minute) + INTERVAL 1 MINUTE AS to_time,
    count() AS minutes
FROM (
    SELECT *, toInt64(minute) - 60 * row_number() OVER (PARTITION BY instance, source, log, state ORDER BY minute) AS interval_key
    FROM states
    WHERE state != 'covered')
GROUP BY instance, source, log, state, interval_key
UNION ALL
SELECT instance, '' AS source, '' AS log, 'no audit log' AS state, first_minute AS from_time, end_minute AS to_time,
    toUInt64(90 * 1440) AS minutes
FROM (
    SELECT instance, '' AS log_source FROM tailrace.server_snapshots WHERE at >= first_minute
    UNION ALL
    SELECT instance, source AS log_source FROM tailrace.ledger WHERE at >= first_minute
    UNION ALL
    SELECT instance, 'slowlog' AS log_source FROM tailrace.query_events WHERE event_time >= first_minute)
GROUP BY instance
HAVING countIf(log_source IN ('audit', 'general')) = 0
COMMENT 'Minutes of the last 90 days in which an audit or general log was not covered, and servers without any such log'
