-- One row per suppression: its author, its end, and whether it was ended early. A suppression that Kafka did not
-- confirm may be active.
SELECT
    toString(silence_id) AS id,
    anyIf(silences.rule, action = 'begin') AS rule,
    anyIf(silences.entity, action = 'begin') AS entity,
    anyIf(silences.until, action = 'begin') AS until,
    anyIf(silences.actor, action = 'begin') AS actor,
    anyIf(silences.reason, action = 'begin') AS reason,
    toDateTime(min(silences.at), 'UTC') AS at,
    countIf(action = 'end') > 0 AS ended,
    anyIf(silences.actor, action = 'end') AS ended_by,
    anyIf(silences.reason, action = 'end') AS ended_because,
    multiIf(
        ended, 'ended', until <= now(), 'over', countIf(action = 'unconfirmed') > 0, 'unconfirmed', 'in force') AS state
FROM tailrace.silences
GROUP BY silence_id
ORDER BY until, id
