-- The names of all servers that are known from logs that were read, stored records and lists of logs, in the order in which they
-- became known. A new server is the last one.
SELECT toString(known.instance) AS instance
FROM (
    SELECT instance, toDateTime(min(at), 'UTC') AS known_at FROM tailrace.listed_logs GROUP BY instance
    UNION ALL
    -- Answered by a projection of the ledger.
    SELECT instance, toDateTime(min(at), 'UTC') FROM tailrace.ledger WHERE kind IN ('CENSUS', 'FRONTIER') GROUP BY instance
    UNION ALL
    SELECT instance, now('UTC') FROM tailrace.log_days GROUP BY instance
) AS known
GROUP BY instance
ORDER BY min(known_at), instance
