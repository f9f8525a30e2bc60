-- One row per file that was read: its frontier, and its bytes by account. Postings are signed, so sums show the current
-- state. `aged`: the retention of the ledger has deleted the oldest postings, so the file cannot be checked.
-- Parameters: instance (empty: all); through: checkpoint, see ledger_through.sql; oldest: earlier postings may have been
-- deleted.
WITH (SELECT min(at) FROM tailrace.ledger) AS ledger_began
SELECT
    any(cluster) AS cluster, instance, source, log, generation,
    argMaxIf(path, at, path != '') AS path,
    toUnixTimestamp(maxIf(at, kind = 'CENSUS')) AS census_at,
    argMaxIf(ledger.size, (at, ledger.size), kind = 'CENSUS') AS size,
    maxIf(to_offset, kind = 'FRONTIER') AS frontier,
    maxIf(from_offset, kind = 'FRONTIER') AS accounted,
    sumIf(ledger.count, kind = 'ENTRY') AS entries,
    sumIf(ledger.bytes, kind = 'ENTRY') AS entry_bytes,
    sumIf(ledger.count, kind = 'EVENT') AS events,
    sumIf(ledger.bytes, kind = 'EVENT') AS event_bytes,
    sumIf(ledger.count, kind = 'DEAD_LETTER') AS dead_letters,
    sumIf(ledger.bytes, kind = 'DEAD_LETTER') AS dead_letter_bytes,
    sumIf(ledger.bytes, kind = 'FRAMING') AS framing_bytes,
    sumIf(ledger.bytes, kind = 'GAP') AS gap_bytes,
    sumIf(ledger.count, kind = 'DUPLICATE') AS duplicates,
    sumIf(ledger.bytes, kind = 'DUPLICATE') AS duplicate_bytes,
    min(at) < {oldest:DateTime64(6, 'UTC')}
        OR ledger_began < {oldest:DateTime64(6, 'UTC')}
            AND minIf(from_offset, stage = 'FRAMER' AND kind IN ('ENTRY', 'FRAMING', 'GAP', 'DEAD_LETTER')) > 0 AS aged
FROM tailrace.ledger
WHERE generation > 0 AND ({instance:String} = '' OR instance = {instance:String})
    AND toInt64(after_checkpoint) <= {through:Int64}
GROUP BY instance, source, log, generation
ORDER BY instance, source, log, generation
