{%- include "parts/alert_state.sql" -%}
-- Actions of people on the alerts of an incident, oldest first: the latest `limit` of `total`. What one person did with several alerts in
-- the same second is one row; `its_alerts` are up to two of them. Parameters: ids (of the alerts), limit.
SELECT toDateTime(moment, 'UTC') AS at, actor, what, detail, alerts, its_alerts, total
FROM (
    SELECT moment, actor, what, detail, uniqExact(alert_id) AS alerts,
        arraySort(groupUniqArray(2)(lower(replaceAll(toString(alert_id), '-', '')))) AS its_alerts, count() OVER () AS total
    FROM (
        SELECT toStartOfSecond(at) AS moment, alert_id, actor, {{ action_in_words() }} AS what, reason AS detail
        FROM tailrace.alert_actions
        WHERE has({ids:Array(UUID)}, alert_id))
    GROUP BY moment, actor, what, detail
    ORDER BY moment DESC, what DESC, actor DESC, detail DESC
    LIMIT {limit:UInt32})
ORDER BY moment, what, actor, detail
