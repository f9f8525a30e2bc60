{%- include "parts/time_range.sql" -%}
{%- include "parts/logins.sql" -%}
{%- include "parts/links.sql" -%}
{%- macro login() -%}
    event_class = 'connection' AND login_kind = 'connect' AND NOT has_failed
{%- endmacro -%}
{%- set with_general_log = "AND instance IN (SELECT instance FROM general_servers)" -%}
-- First logins of an account from a client: no login of this pair in the 90 days before the range, as far as the logs
-- of the server reach (`known_since`). If the logs begin within the range, logins in their first ten minutes are not
-- called new.
--
-- Whole days of audit logs before the range are read from the projection clients_by_day. General logs are read row by
-- row, because the counting rule depends on the hour (parts/logins.sql).
WITH
    {{ shown_range(7) }},
    toStartOfDay(range_start - INTERVAL 90 DAY) AS compared_from,
    general_servers AS (
        SELECT DISTINCT instance FROM tailrace.audit_events
        WHERE toDate(event_time) >= toDate(compared_from) AND toDate(event_time) <= toDate(range_end)
            AND event_class = 'connection' AND source = 'general'),
    {{ successful_logins('compared_from', with_general_log) }}
SELECT
    toDateTime(first_login, 'UTC') AS event_time,
    pairs.cluster AS cluster, pairs.instance AS instance, pairs.name AS user, pairs.src_ip AS src_ip,
    {{ network('src_ip') }} AS network,
    program, login_count,
    toDateTime(known_since, 'UTC') AS known_since,
    if(known_since >= range_start AND first_login < known_since + INTERVAL 10 MINUTE, 'the log begins', 'new') AS novelty,
    {{ link_to_session('first_login', 'pairs.instance', 'toString(first_connection)', "'session'") }} AS link
FROM (
    SELECT
        any(logins.cluster) AS cluster, instance, logins.user AS name, src_ip,
        min(at) AS first_login,
        argMin(logins.connection_id, at) AS first_connection,
        argMin(logins.program, at) AS program,
        sum(logins.cnt) AS login_count,
        min(first_login) OVER (PARTITION BY instance) AS known_since
    FROM (
        SELECT
            cluster, instance, toString(audit_events.user) AS user, {{ client() }} AS src_ip, min(event_time) AS at, count() AS cnt,
            0 AS connection_id, '' AS program
        FROM tailrace.audit_events
        WHERE toDate(event_time) >= toDate(compared_from) AND toDate(event_time) < toDate(range_start) AND source = 'audit'
            AND {{ login() }}
        GROUP BY cluster, instance, user, src_ip
        UNION ALL
        SELECT
            cluster, instance, toString(audit_events.user), {{ client() }}, event_time, 1, connection_id, toString(program_name)
        FROM tailrace.audit_events
        WHERE event_time >= toStartOfDay(range_start) AND event_time < toDateTime64(range_end, 6, 'UTC') AND source = 'audit' AND {{ login() }}
        UNION ALL
        SELECT cluster, instance, user, src_ip, event_time, 1, connection_id, program FROM successful_logins WHERE log = 'general'
    ) AS logins
    GROUP BY instance, name, src_ip
) AS pairs
WHERE first_login >= range_start
