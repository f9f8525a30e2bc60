-- The alerts from which incidents are made, by time: who acts, when, and what was done with them. Suppressed alerts are in no
-- incident. `account` and `client` are empty if the alert is not about a user or a client (as in alert_risk.sql).
-- Parameters: from, to, limit.
WITH
    done AS (
        SELECT
            alert_id,
            argMaxIf(action, at, action IN ('ack', 'close', 'reopen')) AS last_change,
            argMaxIf(verdict, at, action = 'close') AS last_verdict,
            argMaxIf(assignee, at, action = 'assign') AS last_assignee
        FROM tailrace.alert_actions
        GROUP BY alert_id)
SELECT
    lower(replaceAll(toString(alert_id), '-', '')) AS id,
    toDateTime(window_from, 'UTC') AS began, toDateTime(alerts.event_time, 'UTC') AS event_time,
    toString(level) AS level, toString(rule_id) AS rule_id, toString(rule_title) AS rule_title, tags,
    toString(cluster) AS cluster, toString(instance) AS instance, entity_key, alerts.count AS alert_count,
    if(mapContains(entity, 'user') OR NOT hasAny(mapKeys(entity), ['src_ip', 'host', 'program', 'os_user']),
        toString(user), '') AS account,
    multiIf(
        mapContains(entity, 'src_ip'), toString(src_ip),
        mapContains(entity, 'host'), entity['host'],
        hasAny(mapKeys(entity), ['user', 'program', 'os_user']), '',
        toString(src_ip)) AS client,
    multiIf(last_change = 'close', 'closed', last_change = 'ack', 'acknowledged', 'open') AS state,
    if(last_change = 'close', toString(last_verdict), '') AS verdict,
    last_assignee AS assignee
FROM tailrace.alerts FINAL
LEFT JOIN done USING (alert_id)
WHERE NOT silenced
    AND alerts.event_time >= {from:DateTime('UTC')} AND alerts.event_time < {to:DateTime('UTC')}
ORDER BY alerts.event_time DESC, id
LIMIT {limit:UInt32}
