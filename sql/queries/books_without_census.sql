-- Logs whose lines have been read and that no census has ever seen: since when. Their minutes are unknown, and nobody
-- would see the end of such a log missing.
-- Parameter: oldest: what has not been read since then is taken for a log that nobody watches any more.
SELECT instance, source, toUnixTimestamp(min(at)) AS since
FROM tailrace.ledger
WHERE kind = 'FRONTIER'
    AND (instance, source) NOT IN (
        SELECT instance, source FROM tailrace.ledger WHERE kind = 'CENSUS' GROUP BY instance, source)
GROUP BY instance, source
HAVING max(at) > {oldest:DateTime64(6, 'UTC')}
