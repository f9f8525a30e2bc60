-- The plans of one statement that were in use in the time range: one row per server, plan and source. Without executions,
-- which page_query_plan_load.sql counts.
--
-- A plan is written at most once an hour of the job, so `last_seen_at` can be early. The slow log entries with a plan are
-- exact; those of the last seven days of the range are read.
-- Parameters: from, to, query_ids, cluster, instance.
WITH logged AS (
    SELECT toString(instance) AS on_server, toString(query_events.plan_hash) AS logged_plan,
        min(event_time) AS first_logged, max(event_time) AS last_logged
    FROM tailrace.query_events
    WHERE query_id IN {query_ids:Array(UInt64)} AND query_events.plan_hash != ''
        AND event_time >= greatest({from:DateTime('UTC')}, {to:DateTime('UTC')} - 7 * 86400) AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
    GROUP BY on_server, logged_plan)
SELECT
    toString(plans.instance) AS server, toString(plans.plan_hash) AS plan_hash, source,
    any(plans.cluster) AS cluster, argMax(plans.database, last_seen_at) AS default_database,
    if(any(last_logged) = 0, min(first_seen_at), least(min(first_seen_at), any(first_logged))) AS began,
    toDateTime(began, 'UTC') AS first_seen, toDateTime(greatest(max(last_seen_at), any(last_logged)), 'UTC') AS last_seen,
    argMax(tree, last_seen_at) AS outline, argMax(model, last_seen_at) AS model, argMax(advice, last_seen_at) AS advice,
    argMax(plans.cost, last_seen_at) AS cost
FROM tailrace.plans
LEFT JOIN logged ON on_server = toString(plans.instance) AND logged_plan = toString(plans.plan_hash)
WHERE plans.query_id IN {query_ids:Array(UInt64)}
    AND ({cluster:String} = '' OR plans.cluster = {cluster:String})
    AND ({instance:String} = '' OR plans.instance = {instance:String})
GROUP BY server, plan_hash, source
HAVING last_seen >= {from:DateTime('UTC')} AND first_seen < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
ORDER BY last_seen DESC, first_seen DESC, server, plan_hash, source
LIMIT 40
