-- Alerts per bucket of time, level and rule, for charts over time and for counts by rule and tactic.
--
-- The width of a bucket follows the range shown, so that a chart has about 60 of them. `stands_for` is how many alerts
-- a grown one stands for. Superset fills in the Jinja parts from the dashboard's filters.
{%- macro utc(time) -%} toDateTime('{{ time[:19] | replace("T", " ") }}', 'UTC') {%- endmacro %}
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 90 * 86400" }} AS range_start,
    range_end - range_start AS shown,
    multiIf(
        shown <= 3600, 60,
        shown <= 6 * 3600, 300,
        shown <= 15 * 3600, 900,
        shown <= 60 * 3600, 3600,
        shown <= 15 * 86400, 6 * 3600,
        86400) AS width,
    arrayMap(
        tag -> initcap(replaceAll(replaceAll(substring(tag, 8), '_', ' '), '-', ' ')),
        arrayFilter(tag -> match(tag, '^attack\\.[a-z][a-z_-]+$'), tags)) AS names
SELECT
    toDateTime(intDiv(toUInt32(alerts.event_time), width) * width, 'UTC') AS time,
    toDateTime(alerts.event_time, 'UTC') AS event_time,
    level, rule_title,
    arrayJoin(if(empty(names), ['(none)'], names)) AS tactic,
    toString(alert_id) AS id,
    alerts.count AS stands_for,
    entity_key, cluster, instance, user, src_ip, database, program
FROM tailrace.alerts FINAL
WHERE NOT silenced
