-- The state of each log in each minute of [from, to):
--
--     covered   all bytes by which the files of the log grew have been read
--     behind    some of these bytes have not been read yet
--     missing   some of them are in an open gap
--     unknown   there is no census, so it is unknown whether the log grew
--
-- The census gives the byte range by which a file grew in each minute; frontier and gaps give the state of these bytes.
-- Bytes that were written without a census belong to the first minute with a census again. A census row without a
-- generation belongs to the later generation of the same inode. A log with lines but without a census is unknown. A log
-- without any row for a week is considered retired.
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
