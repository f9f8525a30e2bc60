-- The times at which slow log settings of servers changed: latencies before and after cannot be compared.
-- Parameters: oldest, to, cluster, instance.
SELECT toString(instance) AS server, since AS changed, logged
FROM (
    SELECT cluster, instance, since, logged, min(since) OVER (PARTITION BY instance) AS first_since
    FROM tailrace.effective_logging_settings
    WHERE since < {to:DateTime('UTC')})
WHERE since > first_since AND since >= {oldest:DateTime('UTC')}
    AND ({cluster:String} = '' OR cluster = {cluster:String})
    AND ({instance:String} = '' OR instance = {instance:String})
ORDER BY changed DESC, server
LIMIT 20
