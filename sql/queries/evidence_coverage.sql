-- Which minutes of the period were seen of each log, as stretches of minutes in one state: covered, behind, missing, unknown.
-- What the states mean, and how they are found, stands in books_minutes.sql; this is the same for months: gaps are joined to
-- the minutes that they touch and not carried along with each. Minutes before a log was first seen are not here: see the
-- servers.
-- Parameters: from, to.
WITH
    known AS (
        SELECT instance, source, log, minute, looks.size AS size,
            ifNull(min(nullIf(generation, 0)) OVER (
                PARTITION BY instance, source, log, inode ORDER BY minute, generation
                ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING), 0) AS file
        FROM (
            SELECT instance, source, log, inode, generation,
                toStartOfMinute(toDateTime(at, 'UTC')) AS minute, toInt64(max(ledger.size)) AS size
            FROM tailrace.ledger
            WHERE kind = 'CENSUS' AND at >= {from:DateTime('UTC')} - INTERVAL 7 DAY AND at < {to:DateTime('UTC')}
            GROUP BY instance, source, log, inode, generation, minute) AS looks
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
        FROM tailrace.ledger WHERE kind = 'FRONTIER'
        GROUP BY instance, source, log, generation
    ),
    gaps AS (
        SELECT instance, source, log, generation, toInt64(from_offset) AS gap_from, toInt64(to_offset) AS gap_to,
            sum(toInt64(sign(ledger.bytes))) AS times
        FROM tailrace.ledger WHERE kind = 'GAP'
        GROUP BY instance, source, log, generation, gap_from, gap_to
        HAVING times != 0
    ),
    seen AS (
        SELECT instance, source, log, minute, sum(greatest(0, size_after - size_before)) AS grown,
            sum(greatest(0, size_after - greatest(frontier, size_before))) AS behind
        FROM growth LEFT JOIN frontiers USING (instance, source, log, generation)
        WHERE minute >= {from:DateTime('UTC')}
        GROUP BY instance, source, log, minute
    ),
    lost AS (
        SELECT instance, source, log, minute,
            sum(times * greatest(0, least(size_after, gap_to) - greatest(size_before, gap_from))) AS missing
        FROM growth INNER JOIN gaps USING (instance, source, log, generation)
        WHERE minute >= {from:DateTime('UTC')} AND size_after > gap_from AND size_before < gap_to
        GROUP BY instance, source, log, minute
    ),
    expected AS (
        SELECT instance, source, log,
            toDateTime(arrayJoin(range(
                toUInt32(greatest({from:DateTime('UTC')}, toStartOfMinute(toDateTime(min(at), 'UTC')))),
                toUInt32({to:DateTime('UTC')}), 60)), 'UTC') AS minute
        FROM tailrace.ledger
        WHERE kind IN ('CENSUS', 'FRONTIER')
            AND at >= {from:DateTime('UTC')} - INTERVAL 7 DAY AND at < {to:DateTime('UTC')}
        GROUP BY instance, source, log
    ),
    states AS (
        SELECT expected.instance AS instance, expected.source AS source, expected.log AS log, expected.minute AS minute,
            grown, missing,
            multiIf(seen.minute = 0, 'unknown', missing > 0, 'missing', behind > 0, 'behind', 'covered') AS state
        FROM expected
        LEFT JOIN seen ON expected.instance = seen.instance AND expected.source = seen.source
            AND expected.log = seen.log AND expected.minute = seen.minute
        LEFT JOIN lost ON expected.instance = lost.instance AND expected.source = lost.source
            AND expected.log = lost.log AND expected.minute = lost.minute
    )
SELECT instance, source, log, state, min(minute) AS from_time, max(minute) + INTERVAL 1 MINUTE AS to_time,
    count() AS minutes, sum(grown) AS bytes_written, sum(missing) AS bytes_missing
FROM (
    SELECT *,
        toInt64(minute) - 60 * row_number() OVER (PARTITION BY instance, source, log, state ORDER BY minute) AS stretch
    FROM states)
GROUP BY instance, source, log, state, stretch
ORDER BY instance, source, log, from_time
