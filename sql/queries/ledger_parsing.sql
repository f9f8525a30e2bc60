-- Equation 2: every entry of the framer is an event, a dead letter of the parser, or an event that ClickHouse refused,
-- which is a dead letter of the sink and no longer an event. Sums per file, because several parsers process entries of
-- the same file. Returns the files for which the two sides differ.
-- Parameters: instance (empty: all); through: checkpoint, see ledger_through.sql.
SELECT
    instance, source, log, generation,
    sumIf(ledger.count, kind = 'ENTRY') AS expected, sumIf(ledger.count, kind != 'ENTRY') AS found,
    sumIf(ledger.bytes, kind = 'ENTRY') AS expected_bytes, sumIf(ledger.bytes, kind != 'ENTRY') AS found_bytes
FROM tailrace.ledger
WHERE (kind IN ('ENTRY', 'EVENT') OR kind = 'DEAD_LETTER' AND stage IN ('PARSER', 'SINK'))
    AND generation > 0
    AND ({instance:String} = '' OR instance = {instance:String})
    AND toInt64(after_checkpoint) <= {through:Int64}
GROUP BY instance, source, log, generation
HAVING expected != found OR expected_bytes != found_bytes
