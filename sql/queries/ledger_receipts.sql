-- Equation 3: every event and dead letter in the postings has been inserted, according to ClickHouse's own count. A
-- superseded dead letter is a negative posting and a receipt SUPERSEDED. Dead letters of the stage DECODE belong to no
-- file and have no posting. Returns the files and kinds for which the two sides differ.
-- Parameters: instance (empty: all); through: checkpoint, see ledger_through.sql.
SELECT
    instance, source, log, generation, kind, stage,
    sum(posted) AS expected, sum(received) AS found,
    sum(posted_bytes) AS expected_bytes, sum(received_bytes) AS found_bytes
FROM (
    SELECT instance, source, log, generation, kind, stage,
        ledger.count AS posted, ledger.bytes AS posted_bytes, 0 AS received, 0 AS received_bytes
    FROM tailrace.ledger
    WHERE kind IN ('EVENT', 'DEAD_LETTER') AND toInt64(after_checkpoint) <= {through:Int64}
    UNION ALL
    SELECT instance, source, log, generation, if(kind = 'EVENT', 'EVENT', 'DEAD_LETTER'), stage,
        0, 0, if(kind = 'SUPERSEDED', -1, 1) * toInt64(rows), if(kind = 'SUPERSEDED', -1, 1) * toInt64(bytes)
    FROM tailrace.receipts
    WHERE stage != 'DECODE' AND toInt64(after_checkpoint) <= {through:Int64})
WHERE {instance:String} = '' OR instance = {instance:String}
GROUP BY instance, source, log, generation, kind, stage
HAVING expected != found OR expected_bytes != found_bytes
