{%- include "parts/alert_state.sql" -%}
-- One alert with its state, for its page.
WITH
    done AS ({{ last_actions('alert_id = {id:UUID}') }})
SELECT
    lower(replaceAll(toString(alert_id), '-', '')) AS id,
    toDateTime(event_time, 'UTC') AS event_time,
    toDateTime(window_from, 'UTC') AS window_from,
    toDateTime(alerts.seen_at, 'UTC') AS detected_at,
    toDateTime(updated_at, 'UTC') AS updated_at,
    rule_id, rule_title, rule_file, level, tags, cluster, instance, entity, entity_key,
    alerts.count AS alert_count,
    metric, late, silenced, user, src_ip, database, program, statements, facts, next_steps, false_positives, event_ids,
    link_path,
    {{ alert_state() }} AS state,
    {{ alert_verdict() }} AS verdict,
    last_assignee AS assignee
FROM tailrace.alerts FINAL
LEFT JOIN done USING (alert_id)
PREWHERE alert_id = {id:UUID}
