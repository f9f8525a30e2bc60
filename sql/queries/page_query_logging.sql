-- What is known about the slow logs of servers: one row per server. `logged` is the setting at the end of the range, '' if
-- capture did not query the server; `changes` the times at which the settings changed since `oldest`; `is_read` whether the
-- log had an entry of any statement in the day before `oldest` or within an hour after it. If not, the results before the
-- range are unknown, not zero.
-- Parameters: servers, oldest, to.
SELECT server, max(logged_last) AS logged, groupArrayArray(changed) AS changes, max(read) AS is_read
FROM (
    SELECT
        toString(instance) AS server, argMax(logged, since) AS logged_last,
        arrayFilter(at -> at > min(first_since) AND at >= {oldest:DateTime('UTC')}, arraySort(groupArray(since))) AS changed, 0 AS read
    FROM (
        SELECT instance, since, logged, min(since) OVER (PARTITION BY instance) AS first_since
        FROM tailrace.effective_logging_settings
        WHERE since < {to:DateTime('UTC')} AND instance IN {servers:Array(String)})
    GROUP BY instance
    UNION ALL
    SELECT toString(instance) AS server, '' AS logged_last, [] AS changed, 1 AS read
    FROM tailrace.query_load_1m
    WHERE instance IN {servers:Array(String)}
        AND minute >= {oldest:DateTime('UTC')} - 86400 AND minute < {oldest:DateTime('UTC')} + 3600
    GROUP BY instance)
GROUP BY server
ORDER BY server
