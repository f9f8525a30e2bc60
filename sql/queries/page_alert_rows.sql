{%- include "parts/alert_state.sql" -%}
-- The rows of one page of the inbox, by the ids of their alerts.
WITH
    done AS ({{ last_actions('alert_id IN {ids:Array(UUID)}') }})
SELECT
    lower(replaceAll(toString(alert_id), '-', '')) AS id,
    toDateTime(event_time, 'UTC') AS event_time,
    rule_title, level, instance, entity_key,
    alerts.count AS alert_count,
    silenced,
    {{ alert_state() }} AS state,
    {{ alert_verdict() }} AS verdict,
    last_assignee AS assignee
FROM tailrace.alerts FINAL
LEFT JOIN done USING (alert_id)
PREWHERE alert_id IN {ids:Array(UUID)}
ORDER BY
    indexOf(['informational', 'low', 'medium', 'high', 'critical'], level) DESC, alerts.event_time DESC, alert_id
