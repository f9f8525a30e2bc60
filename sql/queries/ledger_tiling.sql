-- Equation 1: the postings of the framer tile each file from 0 to `accounted`, without holes or overlaps.
--
-- Every posting is +1 at its start and -1 at its end, a reversal the opposite; the account of the file is -1 at 0 and
-- +1 at its end. In a correct ledger they cancel at every offset, so only incorrect positions remain to be processed:
-- `excess` is the number of superfluous postings of a range, negative for missing ones. One row per incorrect position;
-- expected and found are bytes.
-- tailrace.ledger.balance first counts the rows of `edges`, and runs the complete query only if there are any.
-- Parameters: instance (empty: all); through: checkpoint, see ledger_through.sql.
WITH
    frontiers AS (
        SELECT instance, source, log, generation, max(from_offset) AS frontier, max(at) AS frontier_at
        FROM tailrace.ledger
        WHERE kind = 'FRONTIER' AND generation > 0 AND ({instance:String} = '' OR instance = {instance:String})
            AND toInt64(after_checkpoint) <= {through:Int64}
        GROUP BY instance, source, log, generation
    ),
    postings AS (
        SELECT instance, source, log, generation, kind, from_offset, to_offset, ledger.bytes AS bytes, at
        FROM tailrace.ledger
        WHERE stage = 'FRAMER' AND generation > 0 AND ({instance:String} = '' OR instance = {instance:String})
            AND toInt64(after_checkpoint) <= {through:Int64}
            AND (kind IN ('ENTRY', 'FRAMING', 'GAP')
                -- Bytes that arrived again with other content are in a range that was accounted for before.
                OR kind = 'DEAD_LETTER' AND detail != 'OFFSET_CONFLICT')
    ),
    accounts AS (
        SELECT instance, source, log, generation, max(reached) AS accounted
        FROM (
            SELECT instance, source, log, generation, frontier AS reached FROM frontiers
            UNION ALL
            -- The frontier is posted once a second: later postings have no matching frontier yet.
            SELECT instance, source, log, generation, max(to_offset)
            FROM postings
            LEFT JOIN frontiers USING (instance, source, log, generation)
            WHERE at > frontier_at
            GROUP BY instance, source, log, generation)
        GROUP BY instance, source, log, generation
    ),
    edges AS (
        SELECT instance, source, log, generation, edge.1 AS offset, sum(edge.2) AS change
        FROM (
            SELECT instance, source, log, generation,
                arrayJoin([(from_offset, toInt64(sign(bytes))), (to_offset, -toInt64(sign(bytes)))]) AS edge
            FROM postings
            UNION ALL
            SELECT instance, source, log, generation,
                arrayJoin([(toUInt64(0), toInt64(-1)), (accounted, toInt64(1))]) AS edge
            FROM accounts)
        GROUP BY instance, source, log, generation, offset
        HAVING change != 0
    ),
    faults AS (
        SELECT instance, source, log, generation, offset AS fault_from,
            leadInFrame(offset) OVER (
                PARTITION BY instance, source, log, generation ORDER BY offset
                ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS fault_to,
            sum(change) OVER (
                PARTITION BY instance, source, log, generation ORDER BY offset
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS excess
        FROM edges
    )
SELECT
    instance, source, log, generation, fault_from AS from_offset, fault_to AS to_offset,
    multiIf(
        fault_from >= any(accounted), 'beyond',
        excess > 0, 'overlap',
        excess < -1, 'reversed',
        empty(kinds), 'hole',
        'undone') AS fault,
    toInt64(fault_to - fault_from) * (fault_from < any(accounted)) AS expected,
    expected + toInt64(fault_to - fault_from) * excess AS found,
    arraySort(groupUniqArrayIf(kind, postings.from_offset < fault_to AND postings.to_offset > fault_from)) AS kinds
FROM faults
LEFT JOIN accounts USING (instance, source, log, generation)
LEFT JOIN (
    SELECT * FROM postings
    WHERE (instance, source, log, generation) IN (SELECT instance, source, log, generation FROM edges)
) AS postings USING (instance, source, log, generation)
WHERE excess != 0
GROUP BY instance, source, log, generation, fault_from, fault_to, excess
UNION ALL
SELECT instance, source, log, generation, from_offset, to_offset, 'uneven',
    toInt64(to_offset - from_offset), abs(bytes), [kind]
FROM postings
WHERE abs(bytes) != toInt64(to_offset - from_offset)
