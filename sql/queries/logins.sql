{%- include "parts/range.sql" -%}
{%- include "parts/logins.sql" -%}
-- Login attempts, one row each, from all logs. `told_by` names the logs; `encrypted` is known if a log contains the
-- connection type. A local socket needs no encryption.
{% set query -%}
WITH
    {{ shown_range(7) }},
    {{ bar_width() }},
    {{ refused_logins() }},
    {{ taken_logins() }}
SELECT
    {{ bar('attempts.event_time') }} AS time,
    toDateTime(attempts.event_time, 'UTC') AS event_time,
    cluster, instance, user, src_ip,
    {{ network('src_ip') }} AS network,
    database,
    if(program = '', '(unknown)', program) AS program,
    outcome, error, told_by,
    multiIf(
        connection_type = 'tcp', 'no', connection_type = 'tls', 'yes', connection_type = '', 'unknown', 'local') AS encrypted
FROM (
    SELECT event_time, cluster, instance, user, src_ip, database, program, connection_type, 'refused' AS outcome, error, told_by
    FROM refused_logins
    UNION ALL
    SELECT event_time, cluster, instance, user, src_ip, database, program, connection_type, 'logged in', '', log
    FROM taken_logins
) AS attempts
{%- endset -%}
{{ with_quiet_bars(query, 'event_time') }}
