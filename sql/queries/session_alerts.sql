{%- include "parts/time_range.sql" -%}
{%- include "parts/session.sql" -%}
{%- include "parts/links.sql" -%}
{%- include "parts/entity_words.sql" -%}
-- Alerts related to a session: alerts that refer to a record of it, and alerts about its user or client (`is_about`).
-- The filters of the dashboard select the session, not its alerts: an alert may have no user.
{%- for column in ['user', 'src_ip', 'cluster', 'instance', 'connection_id'] -%}
    {%- set _ = filter_values(column, remove_filter=True) -%}
{%- endfor %}
WITH
    {{ shown_range(1) }},
    {{ alerted() }},
    {{ chosen_session() }},
    (
        SELECT (min(begun), max(ended), groupUniqArrayIf(lowerUTF8(user), user != ''), groupUniqArrayIf(src_ip, src_ip != '(unknown)'))
        FROM its
    ) AS session,
    session.1 AS since, session.2 AS until, session.3 AS names, session.4 AS addresses
SELECT
    toDateTime(alerts.event_time, 'UTC') AS event_time,
    level, indexOf(['informational', 'low', 'medium', 'high', 'critical'], level) AS level_rank,
    rule_title, {{ entity_in_words('alerts.entity', 'alerts.entity_key') }} AS entity_key,
    cluster, alerts.instance AS instance, toString(chosen.2) AS connection_id,
    alerts.user AS user, alerts.src_ip AS src_ip,
    if(alert_id IN (SELECT alert_id FROM alerted_records
            WHERE instance = chosen.1 AND connection_id = chosen.2 AND event_time BETWEEN since AND until),
        'names what it did', 'same user or client at the time') AS why,
    lower(replaceAll(toString(alert_id), '-', '')) AS id,
    concat('<a href="', link_path, '">alert</a>') AS link
FROM tailrace.alerts FINAL
WHERE {{ is_alert_of_range() }} AND (why = 'names what it did'
    OR alerts.instance = chosen.1
        AND {{ is_about('alerts.event_time', 'alerts.window_from', 'lowerUTF8(alerts.user)', 'alerts.src_ip',
            'since', 'until', 'names', 'addresses') }})
