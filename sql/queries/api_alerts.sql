{%- include "parts/alert_state.sql" -%}
-- Alerts for the API by the time at which they were detected, the newest first: other than the time of the event, it does not change
-- while an alert grows. The filters and states are those of the inbox (page_alerts.sql).
-- Parameters: those of page_alerts.sql; before and before_id: the last row of the page before.
WITH
    filtered AS (
        SELECT
            alert_id, event_time, window_from, seen_at AS detected, updated_at, rule_id, rule_title, rule_file, level, tags, cluster,
            instance, entity, entity_key, silenced, late, user, src_ip, database, program, count AS alert_count
        FROM tailrace.alerts FINAL
        WHERE seen_at >= {from:DateTime64(6, 'UTC')}
            AND seen_at < {to:DateTime64(6, 'UTC')}
            AND ({before_id:String} = ''
                OR (seen_at, alert_id) < ({before:DateTime64(6, 'UTC')}, toUUIDOrZero({before_id:String})))
            AND
{%- include "parts/page_alert_filters.sql" -%}
    ),
{%- include "parts/page_alert_states.sql" -%}
SELECT
    lower(replaceAll(toString(alert_id), '-', '')) AS id,
    detected AS detected_at, shown.event_time AS event_time, window_from, shown.updated_at AS updated_at,
    rule_id, rule_title, rule_file, level, tags, cluster, instance, entity, entity_key, alert_count, silenced, late, state, verdict,
    assignee, user, src_ip, database, program
FROM shown
ORDER BY detected DESC, alert_id DESC
LIMIT {limit:UInt32}
