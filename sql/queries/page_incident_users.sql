-- The users of the events that alerts name, in the order of their first such event, and `is_cut`: whether an alert may be about
-- more events than it names (at most 100: RaisedAlert.MAX_EVENTS). Parameters: ids (of the alerts), from, to.
WITH
    its_alerts AS (
        SELECT event_ids, alerts.count AS events FROM tailrace.alerts FINAL WHERE has({ids:Array(UUID)}, alert_id)),
    its_events AS (SELECT toUUIDOrZero(arrayJoin(event_ids)) AS event_id FROM its_alerts)
SELECT name, (SELECT max(length(event_ids) >= 100 OR events > length(event_ids)) FROM its_alerts) AS is_cut
FROM (
    SELECT toString(user) AS name, event_time FROM tailrace.audit_events
    WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        AND event_id GLOBAL IN (SELECT event_id FROM its_events)
    UNION ALL
    SELECT toString(user) AS name, event_time FROM tailrace.query_events
    WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        AND event_id GLOBAL IN (SELECT event_id FROM its_events)
    UNION ALL
    SELECT toString(user) AS name, event_time FROM tailrace.error_events
    WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        AND event_id GLOBAL IN (SELECT event_id FROM its_events))
WHERE name != ''
GROUP BY name
ORDER BY min(event_time), name
LIMIT 1000
