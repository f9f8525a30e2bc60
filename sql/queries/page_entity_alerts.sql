{%- include "parts/alert_state.sql" -%}
{%- include "parts/entity_conditions.sql" -%}
-- Alerts about an entity, and alerts that have one of the given events as evidence: `names`, events of the entity, and
-- `near`, events of connections that have an event of it (page_entity_evidence). Fields of entities ignore case, as the
-- rules do. The most severe are first, then those with the latest event; the records of the page are in order of time, and
-- records.merged sorts alerts between them by time, too. Parameters: kind, name, from, to, cluster, instance, names, near.
SELECT
    toString(alerts.alert_id) AS id, lower(replaceAll(toString(alerts.alert_id), '-', '')) AS alert,
    alerts.event_time AS event_time, level, rule_title, entity_key, cluster, instance, user, src_ip, alerts.count AS match_count,
    arraySlice(event_ids, 1, 20) AS its_events,
    multiIf(last_change = 'close', 'closed', last_change = 'ack', 'acknowledged', silenced, 'silenced', 'open') AS state,
    multiIf(is_about, 'about it', names_it, 'names its records', 'in the same session') AS relation
FROM (
    SELECT
        *,
        arrayExists(
            (field, value) -> lowerUTF8(value) = lowerUTF8({{ its_name() }}) AND has(
                multiIf(
                    {kind:String} = 'user', ['user', 'priv_user', 'target_user'],
                    {kind:String} = 'client', ['src_ip', 'host'],
                    {kind:String} = 'table', ['table', 'table_read', 'table_written'],
                    {kind:String} = 'class', ['data_class', 'data_class_read', 'data_class_written'],
                    []),
                field),
            mapKeys(entity), mapValues(entity))
        OR {kind:String} = 'user' AND lowerUTF8(user) = lowerUTF8({name:String})
        OR {kind:String} = 'client' AND src_ip = {{ its_name() }} AS is_about,
        hasAny(event_ids, {names:Array(String)}) AS names_it
    FROM tailrace.alerts FINAL
    WHERE alerts.event_time >= {from:DateTime64(6, 'UTC')} AND alerts.window_from < {to:DateTime64(6, 'UTC')}
        AND ({cluster:String} = '' OR cluster = {cluster:String})
        AND ({instance:String} = '' OR instance = {instance:String})
        AND (is_about OR names_it OR hasAny(event_ids, {near:Array(String)}))
) AS alerts
LEFT JOIN (
    SELECT alert_id, {{ last_change() }} AS last_change
    FROM tailrace.alert_actions
    GROUP BY alert_id
) AS done ON done.alert_id = alerts.alert_id
ORDER BY indexOf(['informational', 'low', 'medium', 'high', 'critical'], level) DESC, event_time DESC, id DESC
LIMIT 2000
