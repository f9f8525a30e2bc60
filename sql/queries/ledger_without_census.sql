-- Logs with lines but without any census, with the time of the first line. Their minutes are unknown, and a missing end
-- of such a log cannot be detected.
-- Parameter: oldest: logs without a line since then are considered retired.
SELECT instance, source, toUnixTimestamp(min(at)) AS since
FROM tailrace.ledger
WHERE kind = 'FRONTIER'
    AND (instance, source) NOT IN (
        SELECT instance, source FROM tailrace.ledger WHERE kind = 'CENSUS' GROUP BY instance, source)
GROUP BY instance, source
HAVING max(at) > {oldest:DateTime64(6, 'UTC')}
