WITH
{%- include "parts/entity_records.sql" -%}
    ,
    (
        SELECT groupUniqArray(toUUIDOrZero(event_id))
        FROM (
            SELECT arrayJoin(event_ids) AS event_id FROM tailrace.alerts FINAL
            WHERE alerts.event_time >= {from:DateTime64(6, 'UTC')} AND alerts.window_from < {to:DateTime64(6, 'UTC')})
    ) AS alerted,
    (
        SELECT groupArray((event_id, instance, connection_id, toStartOfHour(event_time)))
        FROM (
            SELECT event_id, toString(instance) AS instance, connection_id, event_time FROM tailrace.audit_events
            WHERE {with_sessions:UInt8} = 1 AND notEmpty(alerted) AND event_id IN (SELECT arrayJoin(alerted))
                AND event_time >= {from:DateTime64(6, 'UTC')} - INTERVAL 1 HOUR AND event_time < {to:DateTime64(6, 'UTC')}
            UNION ALL
            SELECT event_id, toString(instance) AS instance, connection_id, event_time FROM tailrace.query_events
            WHERE {with_sessions:UInt8} = 1 AND notEmpty(alerted) AND event_id IN (SELECT arrayJoin(alerted))
                AND event_time >= {from:DateTime64(6, 'UTC')} - INTERVAL 1 HOUR AND event_time < {to:DateTime64(6, 'UTC')})
        WHERE connection_id != 0
    ) AS alerted_records,
    arrayDistinct(arrayFlatten(arrayMap(
        each -> [(each.2, each.3, each.4), (each.2, each.3, each.4 - 3600), (each.2, each.3, each.4 + 3600)],
        alerted_records))) AS alerted_hours,
    (
        SELECT (
            groupUniqArrayIf(event_id, event_id IN (SELECT arrayJoin(alerted))),
            groupUniqArray((toString(instance), connection_id, toStartOfHour(records.event_time))))
        FROM records
        WHERE ({with_sessions:UInt8} = 1 OR {kind:String} = 'class') AND notEmpty(alerted)
            AND (event_id IN (SELECT arrayJoin(alerted))
                OR (toString(instance), connection_id, toStartOfHour(records.event_time)) IN (SELECT arrayJoin(alerted_hours)))
    ) AS its,
    its.1 AS its_events,
    (
        SELECT groupUniqArray(each.1)
        FROM (SELECT arrayJoin(alerted_records) AS each, arrayJoin([-3600, 0, 3600]) AS step)
        WHERE (each.2, each.3, each.4 + step) IN (SELECT arrayJoin(its.2))
    ) AS near_events
-- Alerts about an entity, alerts that name one of its records, and alerts that name a record of one of its connections
-- within about an hour: connection ids start again when a server restarts. Without `with_sessions`, only the first kind,
-- because the others read every record of the range. Fields of entities ignore case, as the rules do.
-- Parameters: those of page_entity_timeline without begin and width; with_sessions.
SELECT
    toString(alerts.alert_id) AS id, lower(replaceAll(toString(alerts.alert_id), '-', '')) AS alert,
    alerts.event_time AS event_time, level, rule_title, entity_key, cluster, instance, user, src_ip, alerts.count AS match_count,
    multiIf(last_change = 'close', 'closed', last_change = 'ack', 'acknowledged', silenced, 'silenced', 'open') AS state,
    multiIf(is_about, 'about it', names_it, 'names its records', 'in the same session') AS relation
FROM (
    SELECT
        *,
        arrayExists(
            (field, value) -> lowerUTF8(value) = lowerUTF8({name:String}) AND (
                {kind:String} = 'user' AND field IN ('user', 'priv_user', 'target_user')
                OR {kind:String} = 'client' AND field IN ('src_ip', 'host')
                OR {kind:String} = 'table' AND field IN ('table', 'table_read', 'table_written')
                OR {kind:String} = 'class' AND field IN ('data_class', 'data_class_read', 'data_class_written')),
            mapKeys(entity), mapValues(entity))
        OR {kind:String} = 'user' AND lowerUTF8(user) = lowerUTF8({name:String})
        OR {kind:String} = 'client' AND src_ip = {name:String} AS is_about
    FROM tailrace.alerts FINAL
    WHERE alerts.event_time >= {from:DateTime64(6, 'UTC')} AND alerts.window_from < {to:DateTime64(6, 'UTC')}
        AND ({cluster:String} = '' OR cluster = {cluster:String})
        AND ({instance:String} = '' OR instance = {instance:String})
) AS alerts
LEFT JOIN (
    SELECT alert_id, argMaxIf(action, at, action IN ('ack', 'close', 'reopen')) AS last_change
    FROM tailrace.alert_actions
    GROUP BY alert_id
) AS done ON done.alert_id = alerts.alert_id
LEFT JOIN (
    SELECT
        alert_id,
        max(event_id IN (SELECT arrayJoin(its_events))) AS names_it, max(event_id IN (SELECT arrayJoin(near_events))) AS is_near
    FROM (
        SELECT alert_id, toUUIDOrZero(arrayJoin(event_ids)) AS event_id FROM tailrace.alerts FINAL
        WHERE alerts.event_time >= {from:DateTime64(6, 'UTC')} AND alerts.window_from < {to:DateTime64(6, 'UTC')})
    GROUP BY alert_id
) AS named ON named.alert_id = alerts.alert_id
WHERE is_about OR names_it OR is_near
ORDER BY event_time DESC, id DESC
LIMIT 2000
