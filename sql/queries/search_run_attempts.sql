-- The attempts of one run: how many there were, and the last outcome, by channel. Without a channel: of the search itself.
SELECT
    channel,
    max(attempt) AS attempts,
    argMax(outcome, at) AS last_outcome
FROM tailrace.search_runs
WHERE owner = {owner:String} AND name = {name:String} AND until = toDateTime({until:UInt32}, 'UTC') AND outcome != 'missed'
GROUP BY channel
