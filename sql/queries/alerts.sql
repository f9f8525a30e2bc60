{%- include "parts/alert_state.sql" -%}
-- Every alert with its state (parts/alert_state.sql). `tailrace alerts`, the dashboard and the evidence use this query.
WITH
    done AS ({{ last_actions(further="argMax(actor, at) AS acted_by, max(at) AS acted_at") }}),
    arrayMap(
        tag -> replaceAll(substring(tag, 8), '_', '-'),
        arrayFilter(tag -> startsWith(tag, 'attack.'), tags)) AS attack
SELECT
    lower(replaceAll(toString(alert_id), '-', '')) AS id,
    toDateTime(event_time, 'UTC') AS event_time,
    toDateTime(window_from, 'UTC') AS window_from,
    toDateTime(alerts.seen_at, 'UTC') AS detected_at,
    toDateTime(alerts.seen_at, 'UTC') AS seen_at, -- the key in the output of `tailrace alerts list --json`
    toDateTime(updated_at, 'UTC') AS updated_at,
    rule_id, rule_title, rule_file,
    level,
    indexOf(['informational', 'low', 'medium', 'high', 'critical'], level) AS level_rank,
    arrayFilter(name -> NOT match(name, '^[tgs]\\d'), attack) AS tactics,
    arrayFilter(name -> match(name, '^t\\d'), attack) AS techniques,
    if(empty(tactics), '(none)', arrayStringConcat(tactics, ', ')) AS tactic,
    cluster, instance, entity, entity_key,
    alerts.count AS alert_count,
    metric, late, silenced,
    {{ alert_state() }} AS state,
    if(silenced AND state = 'open', 'silenced', state) AS status,
    last_assignee AS assignee, acted_by, acted_at,
    {{ alert_verdict() }} AS verdict,
    user, src_ip, database, program,
    link_path
FROM tailrace.alerts FINAL
LEFT JOIN done USING (alert_id)
