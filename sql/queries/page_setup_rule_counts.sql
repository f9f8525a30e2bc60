-- The number of active rules by server, and of those that can fire there.
-- Parameters: instance (empty: all).
SELECT instance, count() AS rules, countIf(can_fire) AS able
FROM tailrace.rule_coverage FINAL
WHERE active AND source = '' AND ({instance:String} = '' OR instance = {instance:String})
GROUP BY instance
ORDER BY instance
