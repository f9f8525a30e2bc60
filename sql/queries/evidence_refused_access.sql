{%- include "parts/refusal_codes.sql" -%}
-- Invalid logical access attempts: refused logins from audit, general and error logs, one row per attempt even if several logs
-- contain it, and statements that privileges did not allow. `seen_in` names the logs; the other columns are those of one of them.
-- Parameters: from, to.
SELECT * FROM (
SELECT
    event_time AS at, source_logs AS seen_in, cluster, instance, user, client_host, client_ip,
    program AS client_program, 'login refused' AS what, database AS default_database, error, toString(event_id) AS event
FROM tailrace.refused_logins(begin = {from:DateTime('UTC')}, until = {to:DateTime('UTC')})
UNION ALL
SELECT
    event_time AS at, toString(source) AS seen_in, cluster, instance, toString(user), client_host, client_ip,
    toString(program_name) AS client_program, 'statement refused' AS what,
    toString(database) AS default_database, toString(status) AS error, toString(event_id) AS event
FROM tailrace.audit_events
WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
    AND event_class != 'table' AND event_name IN ('', 'status', 'connect', 'change_user')
    AND login_command = ''
    AND status IN {{ all_refusals() }}
)
ORDER BY at, instance, event
