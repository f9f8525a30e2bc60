{%- include "parts/range.sql" -%}
{%- include "parts/logins.sql" -%}
{%- include "parts/links.sql" -%}
-- Accounts that logged in from a client for the first time: no login of this pair in the 90 days before the range, as far
-- back as logs of the server reach (`known_since`). Where they begin within the range, what comes in their first ten
-- minutes is not called new.
WITH
    {{ shown_range(7) }},
    range_start - INTERVAL 90 DAY AS looked_from,
    {{ taken_logins('looked_from') }}
SELECT
    toDateTime(first_login, 'UTC') AS event_time,
    pairs.cluster AS cluster, pairs.instance AS instance, pairs.name AS user, pairs.src_ip AS src_ip,
    {{ network('src_ip') }} AS network,
    program, cnt AS login_count,
    toDateTime(known_since, 'UTC') AS known_since,
    if(known_since >= range_start AND first_login < known_since + INTERVAL 10 MINUTE, 'the log begins', 'new') AS novelty,
    {{ link_to_session('first_login', 'pairs.instance', 'toString(first_connection)', "'session'") }} AS look
FROM (
    SELECT
        any(taken_logins.cluster) AS cluster, instance, taken_logins.user AS name, src_ip,
        min(event_time) AS first_login,
        argMin(taken_logins.connection_id, event_time) AS first_connection,
        argMin(taken_logins.program, event_time) AS program,
        count() AS cnt,
        min(first_login) OVER (PARTITION BY instance) AS known_since
    FROM taken_logins
    GROUP BY instance, name, src_ip
) AS pairs
WHERE first_login >= range_start
