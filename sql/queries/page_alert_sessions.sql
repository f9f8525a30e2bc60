-- The connections of the events that an alert names, in audit logs and slow query logs, with the time of their first and last
-- such event; `total` is the number of all these connections.
SELECT
    cluster, instance, connection_id,
    toDateTime(min(event_time), 'UTC') AS first_at,
    toDateTime(max(event_time), 'UTC') AS last_at,
    count() AS events,
    count() OVER () AS total
FROM (
    SELECT cluster, instance, connection_id, event_time FROM tailrace.audit_events
    WHERE instance = {instance:String}
        AND event_time >= {from:DateTime('UTC')}
        AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        AND has({event_ids:Array(String)}, toString(event_id))
    UNION ALL
    SELECT cluster, instance, connection_id, event_time FROM tailrace.query_events
    WHERE instance = {instance:String}
        AND event_time >= {from:DateTime('UTC')}
        AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        AND connection_id > 0
        AND has({event_ids:Array(String)}, toString(event_id)))
GROUP BY cluster, instance, connection_id
ORDER BY events DESC, connection_id
LIMIT 5
