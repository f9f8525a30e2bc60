-- Each watched log with its last census and its last line, for the page Setup. The state depends on the parameter now, not
-- on the clock of the server:
--   silent    no census for 15 minutes: the collectors or Kafka do not work, or the log is no longer watched
--   behind    the last census found unread bytes, and no line was read for 5 minutes
--   arriving  otherwise; a log that did not grow has an old last line
-- lag_seconds is the time since the last line while bytes are unread, 0 without any, and NULL for a silent log. The last
-- census of a log is that of its current file. Logs without a census in the last 7 days are not listed.
-- Parameters: now; instance (empty: all).
WITH
    {now:DateTime('UTC')} AS now_at,
    census AS (
        SELECT instance, source, log, argMax(cluster, at) AS cluster, max(at) AS census_at,
            argMax((generation, ledger.size), (at, generation)) AS current
        FROM tailrace.ledger
        WHERE kind = 'CENSUS' AND at >= now_at - INTERVAL 7 DAY
            AND ({instance:String} = '' OR instance = {instance:String})
        GROUP BY instance, source, log
    ),
    frontiers AS (
        -- Of the current file all, of earlier files those of a day: a log that was just rotated has a last line, too.
        SELECT instance, source, log, generation, max(to_offset) AS frontier, max(at) AS read_at
        FROM (
            SELECT instance, source, log, generation, to_offset, at
            FROM tailrace.ledger
            WHERE kind = 'FRONTIER'
                AND (instance, source, log, generation) IN (SELECT instance, source, log, current.1 FROM census)
            UNION ALL
            SELECT instance, source, log, generation, to_offset, at
            FROM tailrace.ledger
            WHERE kind = 'FRONTIER' AND at >= now_at - INTERVAL 1 DAY
                AND ({instance:String} = '' OR instance = {instance:String}))
        GROUP BY instance, source, log, generation
    ),
    reading AS (
        SELECT instance, source, log, max(read_at) AS last_read_at,
            mapFromArrays(groupArray(generation), groupArray(frontier)) AS frontier_by_generation
        FROM frontiers
        GROUP BY instance, source, log
    )
SELECT
    census.cluster AS cluster, census.instance AS instance, census.source AS source, census.log AS log,
    toDateTime(census_at, 'UTC') AS census_at,
    if(toUnixTimestamp(last_read_at) = 0, NULL, toDateTime(last_read_at, 'UTC')) AS read_at,
    greatest(0, toInt64(current.2) - toInt64(frontier_by_generation[current.1])) AS unread_bytes,
    multiIf(
        census.census_at < toDateTime64(now_at, 6, 'UTC') - INTERVAL 15 MINUTE, 'silent',
        unread_bytes > 0 AND last_read_at < toDateTime64(now_at, 6, 'UTC') - INTERVAL 5 MINUTE, 'behind',
        'arriving') AS state,
    multiIf(
        state = 'silent', NULL,
        unread_bytes = 0, 0,
        read_at IS NULL, NULL,
        greatest(0, dateDiff('second', read_at, now_at))) AS lag_seconds
FROM census
LEFT JOIN reading ON reading.instance = census.instance AND reading.source = census.source AND reading.log = census.log
ORDER BY instance, source, log
