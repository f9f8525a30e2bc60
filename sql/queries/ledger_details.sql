-- Dead letters by stage and code, and framing by kind, without superseded ones. Dead letters of the stage DECODE come
-- from the receipts: they belong to no file, and their `log` names their origin.
-- Parameters: instance (empty: all); through: checkpoint, see ledger_through.sql.
SELECT *
FROM (
    SELECT instance, source, log, generation, kind, stage, detail,
        sum(ledger.count) AS count, sum(ledger.bytes) AS bytes
    FROM tailrace.ledger
    WHERE kind IN ('DEAD_LETTER', 'FRAMING') AND ({instance:String} = '' OR instance = {instance:String})
        AND toInt64(after_checkpoint) <= {through:Int64}
    GROUP BY instance, source, log, generation, kind, stage, detail
    HAVING count != 0 OR bytes != 0
    UNION ALL
    SELECT instance, source, log, generation, 'DEAD_LETTER', stage, code,
        sum(if(kind = 'SUPERSEDED', -1, 1) * toInt64(rows)) AS count,
        sum(if(kind = 'SUPERSEDED', -1, 1) * toInt64(receipts.bytes)) AS bytes
    FROM tailrace.receipts
    WHERE stage = 'DECODE' AND ({instance:String} = '' OR instance = {instance:String})
        AND toInt64(after_checkpoint) <= {through:Int64}
    GROUP BY instance, source, log, generation, stage, code
    HAVING count != 0)
ORDER BY instance, source, log, generation, kind, stage, detail
