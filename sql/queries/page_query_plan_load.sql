-- Executions of one statement by server and plan. The plan of an execution is the one in its log entry, or else the last one
-- that was captured before it on its server.
-- Parameters: from, to, query_ids, cluster, instance.
WITH ran AS (
    SELECT instance, event_time, weight, query_time, toString(plan_hash) AS logged_plan
    FROM tailrace.query_events
    WHERE query_id IN {query_ids:Array(UInt64)}
        AND event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        AND ({cluster:String} = '' OR cluster = {cluster:String})
        AND ({instance:String} = '' OR instance = {instance:String}))
SELECT
    toString(instance) AS server, plan_hash,
    sum(weight) AS executions, sum(query_time * weight) AS total_seconds,
    quantilesExactWeighted(0.5, 0.95)(query_time, toUInt64(round(weight))) AS levels,
    levels[1] AS p50, levels[2] AS p95
FROM (
    SELECT instance, logged_plan AS plan_hash, weight, query_time FROM ran WHERE logged_plan != ''
    UNION ALL
    SELECT without.instance, captured.plan_hash, without.weight, without.query_time
    FROM (SELECT instance, event_time, weight, query_time FROM ran WHERE logged_plan = '') AS without
    ASOF JOIN (
        SELECT instance, captured_at, toString(plan_hash) AS plan_hash
        FROM tailrace.plan_captures FINAL
        WHERE plan_captures.query_id IN {query_ids:Array(UInt64)} AND status = 'ok' AND plan_hash != ''
    ) AS captured ON captured.instance = without.instance AND captured.captured_at <= without.event_time)
GROUP BY server, plan_hash
