-- The last snapshot of each kind of each server in the last 7 days, with its result. A server is `silent` if the last
-- snapshot is older than 2 hours: capture takes complete snapshots every hour.
-- Parameters: now; instance (empty: all).
SELECT
    instance, kind,
    argMax(cluster, at) AS cluster,
    argMax(product, at) AS product,
    argMax(version, at) AS version,
    argMax(status, at) AS status,
    argMax(error, at) AS error,
    toDateTime(max(at), 'UTC') AS snapshot_at,
    max(max(at)) OVER (PARTITION BY instance) < {now:DateTime('UTC')} - INTERVAL 2 HOUR AS is_silent
FROM tailrace.server_snapshots
WHERE at >= {now:DateTime('UTC')} - INTERVAL 7 DAY AND kind NOT IN ('errant', 'explain')
    AND ({instance:String} = '' OR instance = {instance:String})
GROUP BY instance, kind
ORDER BY instance, kind
