-- The positions in a file where equation 2 or 3 fails: ranges of entries with fewer or more rows than entries. Compares
-- the ranges of the framer with the rows of events and dead letters, so it is used only for a file with an imbalance.
-- Parameters: instance, source, log, generation; through: checkpoint, see ledger_through.sql.
WITH
    ranges AS (
        SELECT from_offset, to_offset, sum(ledger.count) AS entries, sum(ledger.bytes) AS bytes, 1 AS one
        FROM tailrace.ledger
        WHERE kind = 'ENTRY' AND instance = {instance:String} AND source = {source:String}
            AND log = {log:String} AND generation = {generation:UInt64}
            AND toInt64(after_checkpoint) <= {through:Int64}
        GROUP BY from_offset, to_offset
        HAVING entries != 0
    ),
    stored AS (
        SELECT entry_offset, entry_bytes, 1 AS one
        FROM tailrace.query_events
        WHERE instance = {instance:String} AND source = {source:String}
            AND log = {log:String} AND generation = {generation:UInt64}
            AND toInt64(after_checkpoint) <= {through:Int64}
        UNION ALL
        SELECT entry_offset, entry_bytes, 1
        FROM tailrace.audit_events
        WHERE instance = {instance:String} AND source = {source:String}
            AND log = {log:String} AND generation = {generation:UInt64}
            AND toInt64(after_checkpoint) <= {through:Int64}
        UNION ALL
        SELECT entry_offset, entry_bytes, 1
        FROM tailrace.error_events
        WHERE instance = {instance:String} AND source = {source:String}
            AND log = {log:String} AND generation = {generation:UInt64}
            AND toInt64(after_checkpoint) <= {through:Int64}
        UNION ALL
        SELECT entry_offset, entry_bytes, 1
        FROM tailrace.dead_letters FINAL
        WHERE stage IN ('PARSER', 'SINK') AND NOT superseded AND instance = {instance:String} AND source = {source:String}
            AND log = {log:String} AND generation = {generation:UInt64}
            AND toInt64(after_checkpoint) <= {through:Int64}
    ),
    placed AS (
        SELECT ranges.from_offset AS from_offset, count() AS rows, sum(entry_bytes) AS row_bytes
        FROM stored
        ASOF LEFT JOIN ranges ON stored.one = ranges.one AND stored.entry_offset >= ranges.from_offset
        GROUP BY ranges.from_offset
    )
SELECT from_offset, to_offset, entries AS expected, toInt64(rows) AS found
FROM ranges
LEFT JOIN placed USING (from_offset)
WHERE entries != toInt64(rows) OR bytes != toInt64(row_bytes)
ORDER BY from_offset
LIMIT 100
