-- The books of each file since it began: where its bytes and entries went, and whether that adds up.
--
-- `bytes_out_of_balance`: what the framer accounted for, less the ranges it posted (docs/LEDGER.md, equation 1).
-- `entries_out_of_balance`: entries cut, less events and the parser's dead letters (equation 2). Both are 0 in
-- books that balance. Postings of a backfill are signed, so sums are what holds now.
SELECT
    cluster, instance, source, log, generation,
    toUInt64(maxIf(ledger.size, kind = 'CENSUS')) AS file_size,
    maxIf(to_offset, kind = 'FRONTIER') AS frontier,
    maxIf(from_offset, kind = 'FRONTIER') AS accounted,
    greatest(0, toInt64(file_size) - toInt64(frontier)) AS bytes_behind,
    toInt64(frontier) - toInt64(accounted) AS bytes_pending,
    sumIf(ledger.count, kind = 'ENTRY') AS entries,
    sumIf(ledger.count, kind = 'EVENT') AS events,
    sumIf(ledger.count, kind = 'DEAD_LETTER') AS dead_letters,
    sumIf(ledger.count, kind = 'DUPLICATE') AS duplicates,
    sumIf(bytes, kind = 'EVENT') AS event_bytes,
    sumIf(bytes, kind = 'DEAD_LETTER') AS dead_letter_bytes,
    sumIf(bytes, kind = 'FRAMING') AS framing_bytes,
    sumIf(bytes, kind = 'GAP') AS gap_bytes,
    toInt64(accounted) - sumIf(bytes, kind IN ('ENTRY', 'FRAMING', 'GAP') OR kind = 'DEAD_LETTER' AND stage = 'FRAMER')
        AS bytes_out_of_balance,
    entries - events - sumIf(ledger.count, kind = 'DEAD_LETTER' AND stage = 'PARSER') AS entries_out_of_balance,
    toDateTime(maxIf(at, kind = 'CENSUS'), 'UTC') AS last_census
FROM tailrace.ledger
GROUP BY cluster, instance, source, log, generation
