{%- include "parts/alert_state.sql" -%}
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
    done AS ({{ last_actions(
        'alert_id IN (
            SELECT alert_id FROM tailrace.alerts
            WHERE rule_id = {rule_id:String} AND entity_key = {entity_key:String})',
        "argMaxIf(reason, at, action = 'close') AS last_reason") }})
SELECT
    lower(replaceAll(toString(alert_id), '-', '')) AS id,
    toDateTime(event_time, 'UTC') AS event_time,
    level, instance, alert_count,
    {{ alert_state() }} AS state,
    {{ alert_verdict() }} AS verdict,
    if(last_change = 'close', last_reason, '') AS closed_because,
    false AS silenced,
    count() OVER () AS total
FROM earlier
LEFT JOIN done USING (alert_id)
ORDER BY event_time DESC, id
LIMIT {limit:UInt32}
