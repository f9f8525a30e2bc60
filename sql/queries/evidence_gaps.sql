-- Byte ranges that were recorded as lost since the period began, and those that were filled since: one row per posting.
-- The coverage shows the affected minutes.
-- Parameters: from.
SELECT
    at, cluster, instance, source, log, generation, if(bytes > 0, concat('lost: ', detail), 'filled again') AS what,
    from_offset, to_offset, abs(bytes) AS length_bytes
FROM tailrace.ledger
WHERE kind = 'GAP' AND at >= {from:DateTime('UTC')}
ORDER BY at, instance, source, log, from_offset
