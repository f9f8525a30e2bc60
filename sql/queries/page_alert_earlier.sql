-- Earlier alerts of the same rule and entity, the latest first. The rule is the first column of the sorting key.
WITH
    earlier AS (
        SELECT alert_id, event_time, level, instance, count AS alert_count
        FROM tailrace.alerts FINAL
        WHERE rule_id = {rule_id:String}
            AND entity_key = {entity_key:String}
            AND cluster = {cluster:String}
            AND alert_id != {id:UUID}
            AND event_time <= {to:DateTime('UTC')}),
    done AS (
        SELECT
            alert_id,
            argMaxIf(action, at, action IN ('ack', 'close', 'reopen')) AS last_change,
            argMaxIf(verdict, at, action = 'close') AS last_verdict,
            argMaxIf(reason, at, action = 'close') AS last_reason
        FROM tailrace.alert_actions
        WHERE alert_id IN (
            SELECT alert_id FROM tailrace.alerts
            WHERE rule_id = {rule_id:String} AND entity_key = {entity_key:String})
        GROUP BY alert_id)
SELECT
    lower(replaceAll(toString(alert_id), '-', '')) AS id,
    toDateTime(event_time, 'UTC') AS event_time,
    level, instance, alert_count,
    multiIf(last_change = 'close', 'closed', last_change = 'ack', 'acknowledged', 'open') AS state,
    if(last_change = 'close', last_verdict, '') AS verdict,
    if(last_change = 'close', last_reason, '') AS closed_because,
    false AS silenced,
    count() OVER () AS total
FROM earlier
LEFT JOIN done USING (alert_id)
ORDER BY event_time DESC, id
LIMIT {limit:UInt32}
