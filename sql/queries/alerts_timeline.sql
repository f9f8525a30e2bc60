{%- include "parts/time_range.sql" -%}
-- Alerts by time bucket, level and rule, for charts over time and for counts by rule and tactic.
--
-- The bucket width follows the time range, so that a chart has 40 to 80 buckets. `match_count` is the number of matches
-- that a grown alert represents. Superset fills in the Jinja parts from the filters of the dashboard.
{% set query -%}
WITH
    {{ shown_range(90) }},
    {{ bar_width() }},
    arrayMap(
        tag -> initcap(replaceAll(replaceAll(substring(tag, 8), '_', ' '), '-', ' ')),
        arrayFilter(tag -> match(tag, '^attack\\.[a-z][a-z_-]+$'), tags)) AS names
SELECT
    {{ bar('alerts.event_time') }} AS time,
    toDateTime(alerts.event_time, 'UTC') AS event_time,
    level, rule_title,
    arrayJoin(if(empty(names), ['(none)'], names)) AS tactic,
    toString(alert_id) AS id,
    alerts.count AS match_count,
    entity_key, cluster, instance, user, src_ip, database, program
FROM tailrace.alerts FINAL
WHERE NOT silenced
{%- endset -%}
{{ with_empty_buckets(query, 'event_time') }}
