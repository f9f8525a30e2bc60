-- The auditor's view of 0071, in time that grows with the number of minutes and no longer with its square: a window whose
-- frame begins at the current row is summed anew for each of its rows.
CREATE OR REPLACE VIEW tailrace.minutes_without_audit {on_cluster}
SQL SECURITY INVOKER AS
WITH
    toStartOfMinute(now('UTC') - INTERVAL 90 DAY) AS first_minute,
    toStartOfMinute(now('UTC')) AS end_minute,
    census AS (
        SELECT instance, source, log, inode, generation, toStartOfMinute(toDateTime(at, 'UTC')) AS minute,
            toInt64(max(ledger.size)) AS size
        FROM tailrace.ledger
        WHERE kind = 'CENSUS' AND source IN ('audit', 'general') AND at >= first_minute - INTERVAL 7 DAY AND at < end_minute
        GROUP BY instance, source, log, inode, generation, minute
    ),
    known AS (
        SELECT instance, source, log, minute, census.size AS size,
            ifNull(min(nullIf(generation, 0)) OVER (
                PARTITION BY instance, source, log, inode ORDER BY minute DESC, generation DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), 0) AS file
        FROM census
    ),
    growth AS (
        SELECT instance, source, log, file AS generation, minute, max(known.size) AS size_after,
            lagInFrame(max(known.size)) OVER (
                PARTITION BY instance, source, log, file ORDER BY minute
                ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS size_before
        FROM known
        GROUP BY instance, source, log, file, minute
    ),
    frontiers AS (
        SELECT instance, source, log, generation, toInt64(max(to_offset)) AS frontier
        FROM tailrace.ledger WHERE kind = 'FRONTIER' AND source IN ('audit', 'general')
        GROUP BY instance, source, log, generation
    ),
    gaps AS (
        SELECT instance, source, log, generation, toInt64(from_offset) AS gap_from, toInt64(to_offset) AS gap_to,
            sum(toInt64(sign(ledger.bytes))) AS times
        FROM tailrace.ledger WHERE kind = 'GAP' AND source IN ('audit', 'general')
        GROUP BY instance, source, log, generation, gap_from, gap_to
        HAVING times != 0
    ),
    seen AS (
        SELECT instance, source, log, minute, sum(greatest(0, size_after - greatest(frontier, size_before))) AS behind
        FROM growth LEFT JOIN frontiers USING (instance, source, log, generation)
        WHERE minute >= first_minute
        GROUP BY instance, source, log, minute
    ),
    lost AS (
        SELECT instance, source, log, minute,
            sum(times * greatest(0, least(size_after, gap_to) - greatest(size_before, gap_from))) AS missing
        FROM growth INNER JOIN gaps USING (instance, source, log, generation)
        WHERE minute >= first_minute AND size_after > gap_from AND size_before < gap_to
        GROUP BY instance, source, log, minute
    ),
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
            multiIf(seen.minute = 0, 'unknown', missing > 0, 'missing', behind > 0, 'behind', 'covered') AS state
        FROM expected
        LEFT JOIN seen ON expected.instance = seen.instance AND expected.source = seen.source
            AND expected.log = seen.log AND expected.minute = seen.minute
        LEFT JOIN lost ON expected.instance = lost.instance AND expected.source = lost.source
            AND expected.log = lost.log AND expected.minute = lost.minute
    )
SELECT instance, source, log, state, min(minute) AS from_time, max(minute) + INTERVAL 1 MINUTE AS to_time,
    count() AS minutes
FROM (
    SELECT *, toInt64(minute) - 60 * row_number() OVER (PARTITION BY instance, source, log, state ORDER BY minute) AS stretch
    FROM states
    WHERE state != 'covered')
GROUP BY instance, source, log, state, stretch
UNION ALL
SELECT instance, '' AS source, '' AS log, 'no audit log' AS state, first_minute AS from_time, end_minute AS to_time,
    toUInt64(90 * 1440) AS minutes
FROM (
    SELECT instance, '' AS kind_of_log FROM tailrace.server_snapshots WHERE at >= first_minute
    UNION ALL
    SELECT instance, source AS kind_of_log FROM tailrace.ledger WHERE at >= first_minute
    UNION ALL
    SELECT instance, 'slowlog' AS kind_of_log FROM tailrace.query_events WHERE event_time >= first_minute)
GROUP BY instance
HAVING countIf(kind_of_log IN ('audit', 'general')) = 0
COMMENT 'Minutes of audit and general logs in the last 90 days that were not seen, and servers without any such log'
