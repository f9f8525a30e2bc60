{%- include "parts/time_range.sql" -%}
{%- include "parts/logins.sql" -%}
{%- include "parts/links.sql" -%}
-- Series of at least three refused logins to one account from one client without a pause of five minutes, and whether a
-- login from there followed the third one within 15 minutes of the last: the password may have been guessed.
WITH
    {{ shown_range(7) }},
    {{ refused_logins() }},
    {{ successful_logins() }},
    guesses AS (
        SELECT
            any(cluster) AS cluster, instance, any(refused.user) AS name, src_ip,
            count() AS refused_attempts,
            min(event_time) AS begun, max(event_time) AS ended,
            arraySort(groupArray(event_time))[3] AS third,
            arrayStringConcat(arraySort(groupUniqArrayArray(refused.logs)), ', ') AS logs
        FROM (
            SELECT
                *,
                sum(begins) OVER (
                    PARTITION BY instance, lowerUTF8(user), src_ip ORDER BY event_time, event_id
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS series
            FROM (
                SELECT
                    *,
                    event_time > lagInFrame(event_time) OVER (
                        PARTITION BY instance, lowerUTF8(user), src_ip ORDER BY event_time, event_id
                        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) + INTERVAL 5 MINUTE AS begins
                FROM refused_logins)
        ) AS refused
        GROUP BY instance, lowerUTF8(refused.user), src_ip, series
        HAVING count() >= 3)
SELECT
    toDateTime(ended, 'UTC') AS event_time,
    toDateTime(begun, 'UTC') AS from_time,
    cluster, instance, name AS user, src_ip, {{ network('src_ip') }} AS network,
    refused_attempts, logs,
    next_login.event_time > begun AND next_login.event_time <= ended + INTERVAL 15 MINUTE AS got_in,
    multiIf(got_in, 'then logged in', refused_attempts >= 10, 'guessing', 'some refused') AS verdict,
    indexOf(['some refused', 'guessing', 'then logged in'], verdict) AS verdict_rank,
    if(got_in, toDateTime(next_login.event_time, 'UTC'), NULL) AS logged_in_at,
    concat(
        {{ link_by('alerts', [('user', 'user', 'lowerUTF8(name)')], "'alerts'") }},
        if(got_in, concat(' · ', {{ link_to_session('next_login.event_time', 'instance', 'toString(next_login.connection_id)', "'session'") }}), '')) AS link
FROM (SELECT *, lowerUTF8(name) AS folded FROM guesses) AS guesses
ASOF LEFT JOIN (
    SELECT instance, lowerUTF8(user) AS folded, src_ip, event_time, connection_id FROM successful_logins
) AS next_login
    ON next_login.instance = guesses.instance AND next_login.folded = guesses.folded
    AND next_login.src_ip = guesses.src_ip AND next_login.event_time >= guesses.third
