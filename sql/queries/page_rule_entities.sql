{%- include "parts/alert_state.sql" -%}
-- The entities of a rule with the most alerts in a time range, with the numbers by verdict. Parameters: rule, from, to, limit.
WITH
    done AS ({{ last_actions() }})
SELECT
    entity_key,
    count() AS entity_alerts, sum(alerts.count) AS matches,
    countIf(last_change != 'close') AS not_closed,
    countIf(last_change = 'close' AND last_verdict = 'true positive') AS true_positives,
    countIf(last_change = 'close' AND last_verdict IN ('benign', 'false positive')) AS harmless,
    max(toDateTime(alerts.event_time, 'UTC')) AS last_alert
FROM tailrace.alerts FINAL
LEFT JOIN done USING (alert_id)
WHERE alerts.rule_id = {rule:String}
    AND alerts.event_time >= {from:DateTime('UTC')} AND alerts.event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
GROUP BY entity_key
ORDER BY entity_alerts DESC, entity_key
LIMIT {limit:UInt32}
