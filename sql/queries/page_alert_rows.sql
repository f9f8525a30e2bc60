-- The rows of one page of the inbox, by the ids of their alerts.
WITH
    done AS (
        SELECT
            alert_id,
            argMaxIf(action, at, action IN ('ack', 'close', 'reopen')) AS last_change,
            argMaxIf(verdict, at, action = 'close') AS last_verdict,
            argMaxIf(assignee, at, action = 'assign') AS last_assignee
        FROM tailrace.alert_actions
        WHERE alert_id IN {ids:Array(UUID)}
        GROUP BY alert_id)
SELECT
    lower(replaceAll(toString(alert_id), '-', '')) AS id,
    toDateTime(event_time, 'UTC') AS event_time,
    rule_title, level, instance, entity_key,
    alerts.count AS alert_count,
    silenced,
    multiIf(last_change = 'close', 'closed', last_change = 'ack', 'acknowledged', 'open') AS state,
    if(last_change = 'close', last_verdict, '') AS verdict,
    last_assignee AS assignee
FROM tailrace.alerts FINAL
LEFT JOIN done USING (alert_id)
PREWHERE alert_id IN {ids:Array(UUID)}
ORDER BY
    indexOf(['informational', 'low', 'medium', 'high', 'critical'], level) DESC, alerts.event_time DESC, alert_id
