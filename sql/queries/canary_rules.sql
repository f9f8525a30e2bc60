-- Alerts of canary rules per rule and day within the last {period:UInt32} seconds, with the entities that caused most of
-- them. `tailrace rules canary` uses it. Suppressed alerts are included and counted apart.
WITH alerts AS (
    SELECT rule_id, rule_title, level, entity_key, instance, silenced, toDate(event_time, 'UTC') AS day,
        canary_alerts.count AS matches
    FROM tailrace.canary_alerts FINAL
    WHERE event_time >= now64(6, 'UTC') - toIntervalSecond({period:UInt32}))
SELECT
    rule_id AS rule,
    any(rule_title) AS rule_title,
    any(level) AS level,
    day,
    count() AS alert_count,
    sum(matches) AS match_count,
    countIf(silenced) AS silenced_count,
    uniqExact(entity_key) AS entity_count,
    topKWeighted(3)(if(entity_key = '', instance, entity_key), matches) AS top_entities
FROM alerts
GROUP BY rule_id, day
ORDER BY rule_title, rule, day
