{%- include "parts/alert_state.sql" -%}
-- The alerts from which incidents are made, by time: who acts, when, and what was done with them. Suppressed alerts are in no
-- incident. `account` and `client` are empty if the alert is not about a user or a client.
-- Parameters: from, to, limit.
WITH
    done AS ({{ last_actions() }})
SELECT
    lower(replaceAll(toString(alert_id), '-', '')) AS id,
    toDateTime(window_from, 'UTC') AS began, toDateTime(alerts.event_time, 'UTC') AS event_time,
    toString(level) AS level, toString(rule_id) AS rule_id, toString(rule_title) AS rule_title, tags,
    toString(cluster) AS cluster, toString(instance) AS instance, entity_key, alerts.count AS alert_count,
    {{ alert_account() }} AS account,
    {{ alert_client() }} AS client,
    {{ alert_state() }} AS state,
    toString({{ alert_verdict() }}) AS verdict,
    last_assignee AS assignee
FROM tailrace.alerts FINAL
LEFT JOIN done USING (alert_id)
WHERE NOT silenced
    AND alerts.event_time >= {from:DateTime('UTC')} AND alerts.event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
ORDER BY alerts.event_time DESC, id
LIMIT {limit:UInt32}
