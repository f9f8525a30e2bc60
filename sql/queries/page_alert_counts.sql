-- The number of alerts of the inbox by severity; `older` are those before the time range, which the list omits.
WITH
    filtered AS (
        SELECT alert_id, level, silenced, event_time < {from:DateTime('UTC')} AS older
        FROM tailrace.alerts FINAL
        WHERE event_time < {to:DateTime('UTC')}
            AND
{%- include "parts/page_alert_filters.sql" -%}
    ),
{%- include "parts/page_alerts.sql" -%}
SELECT
    level,
    older,
    count() AS alerts
FROM shown
GROUP BY level, older
ORDER BY older, level
