-- Which minutes of which log were seen, one row per log and minute of [from, to):
--
--     covered   every byte that the log's files grew by has been read
--     behind    some of those bytes have not been read yet
--     missing   some of them are in an open gap
--     unknown   no census looked at the log, so nobody can say whether it grew
--
-- The census says what range of bytes a file grew by in each minute; frontier and gaps say what became of it. What
-- was written while nobody looked belongs to the first minute that looked again. A census row without a
-- generation belongs to the one that the same inode was found to be later. A log of which lines came and no census
-- is unknown. One of which nothing has come for a week is taken as retired.
-- Parameters: instance (empty: all); from, to: whole minutes, UTC.
WITH
    looks AS (
        SELECT instance, source, log, inode, generation,
            toStartOfMinute(toDateTime(at, 'UTC')) AS minute, toInt64(max(ledger.size)) AS size
        FROM tailrace.ledger
        WHERE kind = 'CENSUS' AND ({instance:String} = '' OR instance = {instance:String})
            AND at >= {from:DateTime('UTC')} - INTERVAL 7 DAY AND at < {to:DateTime('UTC')}
        GROUP BY instance, source, log, inode, generation, minute
    ),
    known AS (
        SELECT instance, source, log, minute, size,
            ifNull(min(nullIf(generation, 0)) OVER (
                PARTITION BY instance, source, log, inode ORDER BY minute DESC, generation DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), 0) AS file
        FROM looks
    ),
    growth AS (
        SELECT instance, source, log, file AS generation, minute, max(size) AS size_after,
            lagInFrame(max(size)) OVER (
                PARTITION BY instance, source, log, file ORDER BY minute
                ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS size_before
        FROM known
        GROUP BY instance, source, log, file, minute
    ),
    fates AS (
        SELECT instance, source, log, generation,
            toInt64(maxIf(to_offset, kind = 'FRONTIER')) AS frontier,
            groupArrayIf((toInt64(from_offset), toInt64(to_offset), toInt64(sign(ledger.bytes))), kind = 'GAP') AS gaps
        FROM tailrace.ledger
        WHERE kind IN ('FRONTIER', 'GAP')
            AND (instance, source, log, generation) IN (SELECT instance, source, log, generation FROM growth)
        GROUP BY instance, source, log, generation
    ),
    judged AS (
        SELECT instance, source, log, minute,
            sum(greatest(0, size_after - size_before)) AS grown_bytes,
            sum(greatest(0, size_after - greatest(frontier, size_before))) AS behind_bytes,
            sum(arraySum(gap -> gap.3 * greatest(0, least(size_after, gap.2) - greatest(size_before, gap.1)), gaps))
                AS missing_bytes
        FROM growth
        LEFT JOIN fates USING (instance, source, log, generation)
        WHERE minute >= {from:DateTime('UTC')}
        GROUP BY instance, source, log, minute
    ),
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
    multiIf(judged.minute = 0, 'unknown', missing_bytes > 0, 'missing', behind_bytes > 0, 'behind', 'covered') AS state,
    grown_bytes, behind_bytes, missing_bytes
FROM expected
LEFT JOIN judged ON expected.instance = judged.instance AND expected.source = judged.source
    AND expected.log = judged.log AND expected.minute = judged.minute
ORDER BY instance, source, log, minute_at
