-- The entries of sources.yaml that were listed in some part of a period. A host repeats each entry twice a day: one that it has
-- not repeated for a week before the period is no longer listed, as a log without any row for a week is considered retired.
-- `listed_since` is the beginning of the last time for which it is listed, `removed_at` its removal before the end of the period,
-- or NULL. The parameters are whole minutes UTC, the end exclusive. They are written with a blank, because `migrate` replaces
-- names in braces without one.
CREATE VIEW IF NOT EXISTS tailrace.listed_logs_of_period {on_cluster}
SQL SECURITY INVOKER AS
WITH hosts AS (
    SELECT argMax(cluster, at) AS cluster, instance, source, log, host,
        argMax(action, at) AS last_action, max(at) AS last_at,
        groupArrayIf(at, action = 'listed') AS times_listed,
        -- 0 without any. A removal that two processes of a host recorded is one removal.
        arrayMax(arrayFilter(each -> each < arrayMax(times_listed), groupArrayIf(at, action = 'removed'))) AS removed_before
    FROM tailrace.listed_logs
    WHERE at < { period_to: DateTime('UTC') }
    GROUP BY instance, source, log, host
    HAVING countIf(action = 'listed' AND at >= { period_from: DateTime('UTC') }) > 0
        OR argMaxIf(action, at, at < { period_from: DateTime('UTC') }) = 'listed'
            AND maxIf(at, at < { period_from: DateTime('UTC') }) >= { period_from: DateTime('UTC') } - INTERVAL 7 DAY
)
SELECT argMax(hosts.cluster, last_at) AS cluster, instance, source, log,
    toDateTime(min(arrayMin(arrayFilter(each -> each > removed_before, times_listed))), 'UTC') AS listed_since,
    if(countIf(last_action = 'listed') > 0, NULL, toDateTime(max(last_at), 'UTC')) AS removed_at
FROM hosts
GROUP BY instance, source, log
COMMENT 'Logs and servers that sources.yaml listed in a part of a period, also those of which nothing arrived'
