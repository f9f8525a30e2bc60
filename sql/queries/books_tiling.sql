-- Equation 1: the framer's postings tile each file from 0 to `accounted`, without hole or overlap.
--
-- Ranges that overlap form a stretch; a stretch is right if the bytes posted in it are its length. So a reversal
-- and what replaces it count together, and a range posted twice shows as a stretch with too many bytes. A range
-- of length 0 at `accounted` makes the end of the file's account visible.
-- One row per place that is wrong; expected and found are bytes. Parameters: instance (empty: all).
WITH
    ranges AS (
        SELECT instance, source, log, generation, from_offset, to_offset,
            toInt64(sum(ledger.bytes)) AS bytes, groupUniqArray(kind) AS kinds
        FROM tailrace.ledger
        WHERE stage = 'FRAMER' AND generation > 0 AND ({instance:String} = '' OR instance = {instance:String})
            AND (kind IN ('ENTRY', 'FRAMING', 'GAP')
                -- Bytes that came again and differ lie in a range that was accounted for before.
                OR kind = 'DEAD_LETTER' AND detail != 'OFFSET_CONFLICT')
        GROUP BY instance, source, log, generation, from_offset, to_offset
        HAVING bytes != 0
        UNION ALL
        SELECT instance, source, log, generation, max(from_offset) AS end, end, 0, ['FRONTIER']
        FROM tailrace.ledger
        WHERE kind = 'FRONTIER' AND generation > 0 AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY instance, source, log, generation
    ),
    ordered AS (
        SELECT *, max(to_offset) OVER (
            PARTITION BY instance, source, log, generation ORDER BY from_offset, to_offset
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS tiled_to
        FROM ranges
    ),
    stretches AS (
        SELECT *, sum(from_offset >= tiled_to) OVER (
            PARTITION BY instance, source, log, generation ORDER BY from_offset, to_offset
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS stretch
        FROM ordered
    )
SELECT instance, source, log, generation, tiled_to AS from_offset, ordered.from_offset AS to_offset,
    'hole' AS fault, toInt64(ordered.from_offset) - toInt64(tiled_to) AS expected, toInt64(0) AS found,
    CAST([], 'Array(String)') AS kinds
FROM ordered
WHERE ordered.from_offset > tiled_to
UNION ALL
SELECT instance, source, log, generation, min(from_offset), max(to_offset),
    if(sum(bytes) > max(to_offset) - min(from_offset), 'overlap', 'short'),
    toInt64(max(to_offset)) - toInt64(min(from_offset)), sum(bytes), arraySort(groupUniqArrayArray(kinds))
FROM stretches
GROUP BY instance, source, log, generation, stretch
HAVING sum(bytes) != toInt64(max(to_offset)) - toInt64(min(from_offset))
UNION ALL
SELECT instance, source, log, generation,
    maxIf(to_offset, has(kinds, 'FRONTIER')) AS accounted, max(to_offset),
    'beyond', 0, toInt64(max(to_offset)) - toInt64(accounted), []
FROM ranges
GROUP BY instance, source, log, generation
HAVING max(to_offset) > accounted
