-- Open gaps: byte ranges that were recorded as lost and not filled since. A filled part is a negative posting, so a gap
-- is open where the sum of the postings is positive. Adjacent ranges of one kind are one gap.
-- Parameters: instance (empty: all); through: checkpoint, see ledger_through.sql.
WITH
    edges AS (
        SELECT instance, source, log, generation, detail,
            tupleElement(edge, 1) AS offset, sum(tupleElement(edge, 2)) AS change, min(at) AS posted_at
        FROM tailrace.ledger
        ARRAY JOIN [(from_offset, toInt64(sign(ledger.bytes))), (to_offset, -toInt64(sign(ledger.bytes)))] AS edge
        WHERE kind = 'GAP' AND ({instance:String} = '' OR instance = {instance:String})
            AND toInt64(after_checkpoint) <= {through:Int64}
        GROUP BY instance, source, log, generation, detail, offset
        HAVING change != 0
    ),
    steps AS (
        SELECT *,
            sum(change) OVER (
                PARTITION BY instance, source, log, generation, detail ORDER BY offset
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS depth,
            leadInFrame(offset) OVER (
                PARTITION BY instance, source, log, generation, detail ORDER BY offset
                ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS to_offset
        FROM edges
    ),
    open AS (
        SELECT *, sum(offset != previous_end) OVER (
            PARTITION BY instance, source, log, generation, detail ORDER BY offset
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS gap
        FROM (
            SELECT *, lagInFrame(to_offset, 1, toUInt64(18446744073709551615)) OVER (
                PARTITION BY instance, source, log, generation, detail ORDER BY offset
                ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS previous_end
            FROM steps
            WHERE depth > 0)
    )
SELECT instance, source, log, generation, detail AS kind,
    min(offset) AS from_offset, max(to_offset) AS to_offset, toUnixTimestamp(min(posted_at)) AS recorded_at
FROM open
GROUP BY instance, source, log, generation, detail, gap
ORDER BY instance, source, log, generation, from_offset
