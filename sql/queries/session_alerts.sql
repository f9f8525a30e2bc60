{%- include "parts/range.sql" -%}
{%- include "parts/session.sql" -%}
{%- include "parts/links.sql" -%}
-- Alerts that concern a session: those that name a record of it, and those about its user or its client on its server while
-- it lasted, or in the quarter of an hour before, in which a password may have been guessed.
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
    rule_title, entity_key,
    cluster, alerts.instance AS instance, toString(chosen.2) AS connection_id,
    alerts.user AS user, alerts.src_ip AS src_ip,
    if(alert_id IN (SELECT alert_id FROM alerted_records
            WHERE instance = chosen.1 AND connection_id = chosen.2 AND event_time BETWEEN since AND until),
        'names what it did', 'same user or client at the time') AS why,
    lower(replaceAll(toString(alert_id), '-', '')) AS id,
    concat('<a href="', link_path, '">alert</a>') AS look
FROM tailrace.alerts FINAL
WHERE alerts.event_time >= range_start - INTERVAL 15 MINUTE AND (why = 'names what it did'
    OR alerts.instance = chosen.1
        AND alerts.event_time >= since - INTERVAL 15 MINUTE AND alerts.window_from <= until
        AND (alerts.user != '' AND has(names, lowerUTF8(alerts.user)) AND (alerts.src_ip = '' OR has(addresses, alerts.src_ip))
            OR alerts.user = '' AND has(addresses, alerts.src_ip)))
