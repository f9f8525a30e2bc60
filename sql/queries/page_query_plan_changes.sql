-- The plan changes of one statement in the time range, newest first, with their verdicts.
-- Parameters: from, to, query_ids, cluster, instance.
SELECT
    toDateTime(changed_at, 'UTC') AS changed, toString(plan_changes.instance) AS server, old_plan, new_plan, verdict, reason, basis,
    ratio, median_before, median_after, executions_before, executions_after, rows_examined_before, rows_examined_after
FROM tailrace.plan_changes FINAL
WHERE plan_changes.query_id IN {query_ids:Array(UInt64)}
    AND changed_at >= {from:DateTime('UTC')} AND changed_at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
    AND ({cluster:String} = '' OR plan_changes.cluster = {cluster:String})
    AND ({instance:String} = '' OR plan_changes.instance = {instance:String})
ORDER BY changed DESC, server, new_plan
LIMIT 50
