-- The latest attempts of a scheduled search, the newest first: to search (without a channel) and to deliver. Times in
-- microseconds since 1970.
SELECT
    toInt64(toUnixTimestamp(until)) * 1000000 AS until_micros,
    toUnixTimestamp64Micro(at) AS at_micros,
    channel,
    attempt,
    outcome,
    events,
    missed,
    detail
FROM tailrace.search_runs
WHERE owner = {owner:String} AND name = {name:String}
ORDER BY at DESC
LIMIT {limit:UInt32}
