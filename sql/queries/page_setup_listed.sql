-- The logs and servers that sources.yaml lists now, and of which nothing arrived in the last 7 days, for the page Setup: since when
-- each is listed, and the time of the last census, line or snapshot, NULL if there never was one. A path is that log; a pattern
-- or an empty path any log that begins with the text before its first wildcard. Entries of the last 5 minutes are not expected
-- yet. Parameters: now; instance (empty: all).
WITH
    {now:DateTime('UTC')} AS now_at,
    listed AS (
        SELECT cluster, instance, source, log, listed_since, splitByRegexp('[*?\\[]', log)[1] AS begin_of_path
        FROM tailrace.listed_logs_of_period(period_from = {now:DateTime('UTC')}, period_to = {now:DateTime('UTC')})
        WHERE isNull(removed_at) AND listed_since < now_at - INTERVAL 5 MINUTE
            AND ({instance:String} = '' OR instance = {instance:String})
    ),
    arrived AS (
        SELECT instance, source, groupArray((log, last_at)) AS logs
        FROM (
            SELECT instance, toString(source) AS source, log, max(at) AS last_at
            FROM tailrace.ledger
            WHERE kind IN ('CENSUS', 'FRONTIER') AND ({instance:String} = '' OR instance = {instance:String})
            GROUP BY instance, source, log
            UNION ALL
            SELECT instance, 'server' AS source, '' AS log, max(at) AS last_at
            FROM tailrace.server_snapshots
            WHERE {instance:String} = '' OR instance = {instance:String}
            GROUP BY instance)
        GROUP BY instance, source
    ),
    latest AS (
        SELECT listed.cluster AS cluster, listed.instance AS instance, listed.source AS source, listed.log AS log,
            listed.listed_since AS since,
            arrayMax(arrayPushFront(arrayMap(each -> each.2, arrayFilter(
                each -> if(listed.log != '' AND listed.log = begin_of_path, each.1 = listed.log, startsWith(each.1, begin_of_path)),
                arrived.logs)), toDateTime64(0, 6, 'UTC'))) AS last_at
        FROM listed
        LEFT JOIN arrived ON arrived.instance = listed.instance AND arrived.source = listed.source
    )
SELECT cluster, instance, source, log, since AS listed_since,
    if(toUnixTimestamp(last_at) = 0, NULL, toDateTime(last_at, 'UTC')) AS last_arrived_at
FROM latest
WHERE last_at < toDateTime64(now_at, 6, 'UTC') - INTERVAL 7 DAY
ORDER BY instance, source, log
