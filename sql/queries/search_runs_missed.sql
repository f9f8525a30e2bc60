-- The runs before one run that are recorded as missed: their number, and the begin of the time that no run covered.
SELECT
    max(missed) AS missed,
    toUnixTimestamp(min(since)) AS since_seconds
FROM tailrace.search_runs
WHERE owner = {owner:String} AND name = {name:String} AND until = toDateTime({until:UInt32}, 'UTC') AND outcome = 'missed'
