-- The plans of one statement that were in use in the time range: one row per server, plan and source. Without executions,
-- which page_query_plan_load.sql counts.
-- Parameters: from, to, query_ids, cluster, instance.
SELECT
    toString(plans.instance) AS server, plan_hash, source,
    any(plans.cluster) AS cluster, argMax(plans.database, last_seen_at) AS default_database,
    toDateTime(min(first_seen_at), 'UTC') AS first_seen, toDateTime(max(last_seen_at), 'UTC') AS last_seen,
    argMax(tree, last_seen_at) AS outline, argMax(model, last_seen_at) AS model, argMax(advice, last_seen_at) AS advice,
    argMax(plans.cost, last_seen_at) AS cost
FROM tailrace.plans
WHERE plans.query_id IN {query_ids:Array(UInt64)}
    AND ({cluster:String} = '' OR plans.cluster = {cluster:String})
    AND ({instance:String} = '' OR plans.instance = {instance:String})
GROUP BY server, plan_hash, source
HAVING last_seen >= {from:DateTime('UTC')} AND first_seen < {to:DateTime('UTC')}
ORDER BY last_seen DESC, first_seen DESC, server, plan_hash, source
LIMIT 40
