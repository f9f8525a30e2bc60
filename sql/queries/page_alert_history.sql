-- Actions of people on one alert and its deliveries, oldest first.
SELECT
    toDateTime(moment, 'UTC') AS at,
    actor, what, detail
FROM (
    SELECT
        at AS moment,
        actor,
        multiIf(
            action = 'ack', 'acknowledged',
            action = 'assign', concat('assigned to ', assignee),
            action = 'close' AND verdict != '', concat('closed as ', verdict),
            action = 'close', 'closed',
            action = 'reopen', 'reopened',
            'commented') AS what,
        reason AS detail
    FROM tailrace.alert_actions
    WHERE alert_id = {id:UUID}
    UNION ALL
    SELECT
        at AS moment,
        concat('channel ', channel) AS actor,
        concat(outcome, ', attempt ', toString(attempt)) AS what,
        detail
    FROM tailrace.alert_deliveries
    WHERE alert_id = {id:UUID})
ORDER BY moment, what
