-- Alerts of the period with their state.
-- Parameters: from, to.
SELECT event_time AS at, level AS severity, rule_title AS rule, cluster, instance, user AS about_user, src_ip AS about_ip,
    alert_count AS times, status AS state, assignee AS assigned_to, acted_by, if(acted_by = '', NULL, acted_at) AS acted_at,
    verdict, id AS alert
FROM (
{%- include "alerts.sql" -%}
)
WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
ORDER BY at, alert
