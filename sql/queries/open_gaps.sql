-- Byte ranges that were lost and not shipped again.
--
-- A gap is a posting with a byte range; a backfill reverses parts of it with negative postings. A sweep over the
-- offsets finds the open ranges: those where the sum of the postings is positive.
WITH edges AS (
    SELECT cluster, instance, source, log, generation, detail, edge, sum(change) AS change, min(at) AS recorded_at
    FROM (
        SELECT *, from_offset AS edge, sign(bytes) AS change FROM tailrace.ledger WHERE kind = 'GAP'
        UNION ALL
        SELECT *, to_offset AS edge, -sign(bytes) AS change FROM tailrace.ledger WHERE kind = 'GAP')
    GROUP BY cluster, instance, source, log, generation, detail, edge
    HAVING change != 0
)
SELECT
    cluster, instance, source, log, generation,
    concat(instance, ' · ', if(uniqExact(log) OVER (PARTITION BY instance, basename(log)) > 1, log, basename(log)))
        AS file,
    detail AS gap_kind,
    edge AS from_offset,
    next_edge AS to_offset,
    next_edge - edge AS missing_bytes,
    toDateTime(recorded_at, 'UTC') AS recorded_at
FROM (
    SELECT *,
        sum(change) OVER (PARTITION BY instance, source, log, generation, detail ORDER BY edge) AS open,
        leadInFrame(edge) OVER (
            PARTITION BY instance, source, log, generation, detail ORDER BY edge
            ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS next_edge
    FROM edges)
WHERE open > 0
