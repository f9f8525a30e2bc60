{%- include "parts/alert_state.sql" -%}
-- The alerts of the inbox as a file: the most severe first, then those with the latest event. Alerts are restricted by their
-- own columns before the actions are joined.
WITH
    filtered AS (
        SELECT
            alert_id, event_time, updated_at, rule_id, rule_title, level, cluster, instance, entity_key, silenced,
            user, src_ip, database, program, count AS alert_count
        FROM tailrace.alerts FINAL
        WHERE event_time >= {from:DateTime('UTC')}
            AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
            AND
{%- include "parts/page_alert_filters.sql" -%}
    ),
{%- include "parts/page_alert_states.sql" -%}
SELECT
    lower(replaceAll(toString(alert_id), '-', '')) AS id,
    toDateTime(event_time, 'UTC') AS event_time,
    toDateTime(updated_at, 'UTC') AS updated_at,
    rule_id, rule_title, level, cluster, instance, entity_key, alert_count, silenced, state, verdict, assignee,
    user, src_ip, database, program
FROM shown
ORDER BY
    indexOf(['informational', 'low', 'medium', 'high', 'critical'], level) DESC, shown.event_time DESC, alert_id
LIMIT {limit:UInt32}
