-- Files in the census without any line: their newest census row has no generation.
-- Parameters: instance (empty: all).
SELECT
    instance, source, log, inode,
    argMax(path, at) AS path,
    toUnixTimestamp(max(at)) AS census_at,
    argMax(ledger.size, (at, generation)) AS size
FROM tailrace.ledger
WHERE kind = 'CENSUS' AND ({instance:String} = '' OR instance = {instance:String})
GROUP BY instance, source, log, inode
HAVING argMax(generation, (at, generation)) = 0 AND size > 0
ORDER BY instance, source, log, inode
