-- Whether rules can fire on each server, with all its logs together. Parameter: rule (id; empty: all rules).
SELECT
    toString(rule_coverage.rule_id) AS rule_id, toString(rule_title) AS title, toString(level) AS level,
    toString(cluster) AS cluster, toString(instance) AS instance,
    can_fire, reason, missing_fields, missing_classes
FROM tailrace.rule_coverage FINAL
WHERE active AND source = '' AND ({rule:String} = '' OR rule_coverage.rule_id = {rule:String})
ORDER BY rule_id, cluster, instance
