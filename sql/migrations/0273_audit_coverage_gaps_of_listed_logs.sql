-- Replaces 0213: servers without an audit log are also those that sources.yaml lists and of which nothing ever arrived. A listed
-- audit log of which nothing arrived has unknown minutes (0272).
CREATE OR REPLACE VIEW tailrace.audit_coverage_gaps {on_cluster}
SQL SECURITY INVOKER AS
WITH
    toStartOfMinute(now('UTC') - INTERVAL 90 DAY) AS first_minute,
    toStartOfMinute(now('UTC')) AS end_minute,
    expected AS (
        SELECT instance, source, log,
            toDateTime(arrayJoin(range(toUInt32(first_minute), toUInt32(end_minute), 60)), 'UTC') AS minute
        FROM tailrace.logs_of_period(
            period_from = toStartOfMinute(now('UTC') - INTERVAL 90 DAY), period_to = toStartOfMinute(now('UTC')))
        WHERE source IN ('audit', 'general')
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
    SELECT instance, source AS log_source FROM tailrace.log_days WHERE record_day >= toDate(first_minute)
    UNION ALL
    SELECT instance, source AS log_source
    FROM tailrace.listed_logs_of_period(
        period_from = toStartOfMinute(now('UTC') - INTERVAL 90 DAY), period_to = toStartOfMinute(now('UTC'))))
GROUP BY instance
HAVING countIf(log_source IN ('audit', 'general')) = 0
COMMENT 'Minutes of the last 90 days in which an audit or general log was not covered, and servers without any such log'
