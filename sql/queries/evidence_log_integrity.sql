-- The bytes of each log that was read in the period by outcome: entries, unparsable bytes, lost and filled bytes, and
-- `conflicting_lines`: lines that arrived again at the same offset with other content.
-- Parameters: from, to.
SELECT
    cluster, instance, source, log,
    uniqExactIf(generation, generation > 0) AS files,
    sumIf(ledger.count, kind = 'ENTRY') AS entries,
    sumIf(bytes, kind = 'ENTRY') AS entry_bytes,
    sumIf(ledger.count, kind = 'EVENT') AS events,
    sumIf(ledger.count, kind = 'DEAD_LETTER' AND detail != 'OFFSET_CONFLICT') AS entries_not_readable,
    sumIf(ledger.count, kind = 'DEAD_LETTER' AND detail = 'OFFSET_CONFLICT') AS conflicting_lines,
    sumIf(ledger.count, kind = 'DUPLICATE') AS lines_read_again,
    sumIf(bytes, kind = 'GAP' AND bytes > 0) AS bytes_lost,
    -sumIf(bytes, kind = 'GAP' AND bytes < 0) AS bytes_filled_again,
    toDateTime(min(at), 'UTC') AS first_posting, toDateTime(max(at), 'UTC') AS last_posting
FROM tailrace.ledger
WHERE at >= {from:DateTime('UTC')} AND at < {to:DateTime('UTC')}
GROUP BY cluster, instance, source, log
ORDER BY instance, source, log
