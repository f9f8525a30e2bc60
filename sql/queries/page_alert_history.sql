{%- include "parts/alert_state.sql" -%}
-- Actions of people on one alert and its deliveries, oldest first.
SELECT
    toDateTime(moment, 'UTC') AS at,
    actor, what, detail
FROM (
    SELECT
        at AS moment,
        actor,
        {{ action_in_words() }} AS what,
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
