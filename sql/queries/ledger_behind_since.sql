-- The time since which each incompletely read file is behind: the first census that found bytes that are still unread.
-- Files without any line have generation 0.
WITH behind AS (
    SELECT instance, source, log, generation,
        maxIf(to_offset, kind = 'FRONTIER') AS frontier,
        argMaxIf(ledger.size, (at, ledger.size), kind = 'CENSUS') AS newest
    FROM tailrace.ledger
    WHERE kind IN ('FRONTIER', 'CENSUS') AND generation > 0
    GROUP BY instance, source, log, generation
    HAVING newest > frontier
)
SELECT instance, source, log, generation, toUnixTimestamp(min(at)) AS since
FROM tailrace.ledger
INNER JOIN behind USING (instance, source, log, generation)
WHERE kind = 'CENSUS' AND ledger.size > behind.frontier
GROUP BY instance, source, log, generation
UNION ALL
SELECT instance, source, log, 0, toUnixTimestamp(min(at))
FROM tailrace.ledger
WHERE kind = 'CENSUS'
GROUP BY instance, source, log, inode
HAVING argMax(generation, (at, generation)) = 0 AND argMax(ledger.size, (at, generation)) > 0
