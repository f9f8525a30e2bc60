-- The last census and the last line of each log, in seconds since 1970 UTC; 0 for never. `read_since` is the time of
-- its first line.
-- Parameters: instance (empty: all).
SELECT
    instance, source, log,
    toUnixTimestamp(maxIf(at, kind = 'CENSUS')) AS census_at,
    toUnixTimestamp(maxIf(at, kind = 'FRONTIER')) AS read_at,
    if(read_at = 0, 0, toUnixTimestamp(minIf(at, kind = 'FRONTIER'))) AS read_since
FROM tailrace.ledger
WHERE kind IN ('CENSUS', 'FRONTIER') AND ({instance:String} = '' OR instance = {instance:String})
GROUP BY instance, source, log
ORDER BY instance, source, log
