-- Replaces 0271, which explains the terms: the rows of the last second before a bound count, also if no part has others (sql/README.md, *Bounds of times*).
CREATE OR REPLACE VIEW tailrace.listed_logs_of_period {on_cluster}
SQL SECURITY INVOKER AS
WITH hosts AS (
    SELECT argMax(cluster, at) AS cluster, instance, source, log, host,
        argMax(action, at) AS last_action, max(at) AS last_at,
        groupArrayIf(at, action = 'listed') AS times_listed,
        -- 0 without any. A removal that two processes of a host recorded is one removal.
        arrayMax(arrayFilter(each -> each < arrayMax(times_listed), groupArrayIf(at, action = 'removed'))) AS removed_before
    FROM tailrace.listed_logs
    WHERE at < toDateTime64({ period_to: DateTime('UTC') }, 6, 'UTC')
    GROUP BY instance, source, log, host
    HAVING countIf(action = 'listed' AND at >= toDateTime64({ period_from: DateTime('UTC') }, 6, 'UTC')) > 0
        OR argMaxIf(action, at, at < toDateTime64({ period_from: DateTime('UTC') }, 6, 'UTC')) = 'listed'
            AND maxIf(at, at < toDateTime64({ period_from: DateTime('UTC') }, 6, 'UTC'))
                >= toDateTime64({ period_from: DateTime('UTC') }, 6, 'UTC') - INTERVAL 7 DAY
)
SELECT argMax(hosts.cluster, last_at) AS cluster, instance, source, log,
    toDateTime(min(arrayMin(arrayFilter(each -> each > removed_before, times_listed))), 'UTC') AS listed_since,
    if(countIf(last_action = 'listed') > 0, NULL, toDateTime(max(last_at), 'UTC')) AS removed_at
FROM hosts
GROUP BY instance, source, log
COMMENT 'Logs and servers that sources.yaml listed in a part of a period, also those of which nothing arrived'
