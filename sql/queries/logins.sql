{%- include "parts/time_range.sql" -%}
{%- include "parts/logins.sql" -%}
-- Login attempts, one row each, from all logs. `source_logs` names the logs; `encrypted` is known if a log contains the
-- connection type. A local socket needs no encryption.
{% set query -%}
WITH
    {{ shown_range(7) }},
    {{ bar_width() }},
    {{ refused_logins() }},
    {{ successful_logins() }}
SELECT
    {{ bar('attempts.event_time') }} AS time,
    toDateTime(attempts.event_time, 'UTC') AS event_time,
    cluster, instance, user, src_ip,
    {{ network('src_ip') }} AS network,
    database,
    if(program = '', '(unknown)', program) AS program,
    outcome, error, source_logs,
    multiIf(
        connection_type = 'tcp', 'no', connection_type = 'tls', 'yes', connection_type = '', 'unknown', 'local') AS encrypted
FROM (
    SELECT event_time, cluster, instance, user, src_ip, database, program, connection_type, 'refused' AS outcome, error, source_logs
    FROM refused_logins
    UNION ALL
    SELECT event_time, cluster, instance, user, src_ip, database, program, connection_type, 'logged in', '', log
    FROM successful_logins
) AS attempts
{%- endset -%}
{{ with_empty_buckets(query, 'event_time') }}
