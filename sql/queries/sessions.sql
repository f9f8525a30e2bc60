{%- include "parts/time_range.sql" -%}
{%- include "parts/session.sql" -%}
{%- include "parts/links.sql" -%}
-- Sessions by relevance, at most 200 connections: sessions to which an alert refers, by its level, then sessions with
-- refused attempts, then the latest sessions. With a connection id in the filter, all sessions with this id. Alerts are
-- counted as in session_alerts.sql.
WITH
    {{ shown_range(1) }},
    {{ alerted() }},
    {{ connections_by_relevance(200) }},
    {{ session_records('connections') }},
    arrayFilter(record -> record.1 BETWEEN begun AND ended, referenced.records) AS its_alerts,
    arrayFilter(
        each -> {{ is_about('each.2', 'each.3', 'each.4', 'each.5', 'begun', 'ended', 'names', 'addresses') }},
        near.alerts) AS alerts_about
SELECT
    toDateTime(ended, 'UTC') AS event_time,
    toDateTime(begun, 'UTC') AS began_at,
    cluster, found.instance AS instance, toString(found.connection_id) AS connection_id,
    name AS user, address AS src_ip, client_program AS program,
    statements, error_count, rows_sum AS rows_sent,
    length(arrayDistinct(arrayConcat(its_alerts.2, alerts_about.1))) AS alert_count,
    arrayMax(arrayPushBack(its_alerts.3, 0)) AS max_level,
    multiIf(max_level > 0, arrayElement(['informational', 'low', 'medium', 'high', 'critical'], max_level),
        alert_count > 0, 'of its user or client', error_count > 0, 'errors only', 'ordinary') AS reason,
    multiIf(begin_seen, '', refused_login, 'login refused', 'began before') AS note,
    {{ link_within('session', "concat(" ~ iso("begun - 1") ~ ", ' : ', " ~ iso("ended + 2") ~ ")",
        [('instance', 'instance', 'found.instance'), ('connection_id', 'connection_id', 'toString(found.connection_id)')],
        "'session'") }} AS link
FROM (
    SELECT
        any(cluster) AS cluster, instance, sessions_numbered.connection_id AS connection_id, session,
        min(sessions_numbered.event_time) AS begun, max(sessions_numbered.event_time) AS ended,
        anyIf(sessions_numbered.user, sessions_numbered.user != '') AS name,
        anyIf(sessions_numbered.src_ip, sessions_numbered.src_ip != '(unknown)') AS address,
        anyIf(sessions_numbered.program, sessions_numbered.program != '') AS client_program,
        groupUniqArrayIf(lowerUTF8(sessions_numbered.user), sessions_numbered.user != '') AS names,
        groupUniqArrayIf(sessions_numbered.src_ip, sessions_numbered.src_ip != '(unknown)') AS addresses,
        {{ most_of_a_log('is_statement') }} AS statements,
        {{ most_of_a_log("error != ''") }} AS error_count,
        sum(sessions_numbered.rows_sent) AS rows_sum,
        session > 0 AS begin_seen,
        countIf(kind_of_login != '' AND is_failure) > 0 AS refused_login
    FROM sessions_numbered
    GROUP BY instance, connection_id, session
) AS found
LEFT JOIN (
    SELECT instance, alerted_records.connection_id AS connection_id, groupArray((event_time, alert_id, level_rank)) AS records
    FROM alerted_records
    GROUP BY instance, connection_id
) AS referenced ON referenced.instance = found.instance AND referenced.connection_id = found.connection_id
LEFT JOIN (
    SELECT instance, groupArray((alert_id, event_time, window_from, lowerUTF8(user), toString(src_ip))) AS alerts
    FROM tailrace.alerts FINAL
    WHERE {{ is_alert_of_range() }}
    GROUP BY instance
) AS near ON near.instance = found.instance
