-- The state of each log in the period, as intervals of minutes: covered, behind, missing, unknown. books_minutes.sql
-- defines the states; this query computes the same for months: gaps are joined to the minutes that they affect instead
-- of being carried along. Minutes before a log was first seen are not included: see the servers. Logs are numbered by a
-- hash: months contain millions of minutes, which would otherwise be sorted by strings.
-- Parameters: from, to.
WITH
    known AS (
        SELECT log_id, second, looks.size AS size,
            ifNull(min(nullIf(generation, 0)) OVER (
                PARTITION BY log_id, inode ORDER BY second DESC, generation DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), 0) AS file
        FROM (
            SELECT cityHash64(instance, source, log) AS log_id, inode, generation,
                60 * intDiv(toUnixTimestamp(at), 60) AS second, toInt64(max(ledger.size)) AS size
            FROM tailrace.ledger
            WHERE kind = 'CENSUS' AND at >= {from:DateTime('UTC')} - INTERVAL 7 DAY AND at < {to:DateTime('UTC')}
            GROUP BY log_id, inode, generation, second) AS looks
    ),
    growth AS (
        SELECT log_id, file AS generation, second, max(known.size) AS size_after,
            lagInFrame(max(known.size)) OVER (
                PARTITION BY log_id, file ORDER BY second
                ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS size_before
        FROM known
        GROUP BY log_id, file, second
    ),
    frontiers AS (
        SELECT cityHash64(instance, source, log) AS log_id, generation, frontier
        FROM (
            SELECT instance, source, log, generation, toInt64(max(to_offset)) AS frontier
            FROM tailrace.ledger WHERE kind = 'FRONTIER'
            GROUP BY instance, source, log, generation)
    ),
    gaps AS (
        SELECT cityHash64(instance, source, log) AS log_id, generation,
            toInt64(from_offset) AS gap_from, toInt64(to_offset) AS gap_to, sum(toInt64(sign(ledger.bytes))) AS times
        FROM tailrace.ledger WHERE kind = 'GAP'
        GROUP BY log_id, generation, gap_from, gap_to
        HAVING times != 0
    ),
    seen AS (
        SELECT log_id, second, sum(greatest(0, size_after - size_before)) AS grown,
            sum(greatest(0, size_after - greatest(frontier, size_before))) AS behind
        FROM growth LEFT JOIN frontiers USING (log_id, generation)
        WHERE second >= toUnixTimestamp({from:DateTime('UTC')})
        GROUP BY log_id, second
    ),
    lost AS (
        SELECT log_id, second,
            sum(times * greatest(0, least(size_after, gap_to) - greatest(size_before, gap_from))) AS missing
        FROM growth INNER JOIN gaps USING (log_id, generation)
        WHERE second >= toUnixTimestamp({from:DateTime('UTC')}) AND size_after > gap_from AND size_before < gap_to
        GROUP BY log_id, second
    ),
    logs AS (
        SELECT cityHash64(instance, source, log) AS log_id, instance, source, log,
            greatest(toUnixTimestamp({from:DateTime('UTC')}), 60 * intDiv(toUnixTimestamp(min(at)), 60)) AS since
        FROM tailrace.ledger
        WHERE kind IN ('CENSUS', 'FRONTIER')
            AND at >= {from:DateTime('UTC')} - INTERVAL 7 DAY AND at < {to:DateTime('UTC')}
        GROUP BY instance, source, log
    ),
    expected AS (
        SELECT log_id, arrayJoin(range(since, toUnixTimestamp({to:DateTime('UTC')}), 60)) AS second FROM logs
    ),
    states AS (
        SELECT expected.log_id AS log_id, expected.second AS second, grown, missing,
            multiIf(seen.second = 0, 'unknown', missing > 0, 'missing', behind > 0, 'behind', 'covered') AS state
        FROM expected
        LEFT JOIN seen ON expected.log_id = seen.log_id AND expected.second = seen.second
        LEFT JOIN lost ON expected.log_id = lost.log_id AND expected.second = lost.second
    ),
    stretches AS (
        SELECT log_id, state, min(second) AS from_second, max(second) + 60 AS to_second,
            count() AS minutes, sum(grown) AS bytes_written, sum(missing) AS bytes_missing
        FROM (
            SELECT *, toInt64(second) - 60 * row_number() OVER (PARTITION BY log_id, state ORDER BY second) AS stretch
            FROM states)
        GROUP BY log_id, state, stretch
    )
SELECT instance, source, log, state,
    toDateTime(from_second, 'UTC') AS from_time, toDateTime(to_second, 'UTC') AS to_time,
    minutes, bytes_written, bytes_missing
FROM stretches
INNER JOIN logs USING (log_id)
ORDER BY instance, source, log, from_time
