-- Invalid logical access attempts: refused logins, and statements that privileges did not allow, from audit and general
-- logs, and refusals that only the error log contains. `seen_in` names the log: one attempt may be in both.
-- Parameters: from, to.
SELECT
    event_time AS at, source AS seen_in, cluster, instance, user, client_host, client_ip,
    program_name AS client_program,
    if(event_class = 'connection', 'login refused', 'statement refused') AS what,
    database AS default_database, toString(status) AS error, toString(event_id) AS event
FROM tailrace.audit_events
WHERE event_time >= {from:DateTime('UTC')} AND event_time < {to:DateTime('UTC')}
    AND (event_class = 'connection' AND status != 0 AND
{include:parts/is_login}
        OR event_class != 'table' AND status IN
{include:parts/refusal_codes}
    )
UNION ALL
SELECT
    event_time AS at, 'error log' AS seen_in, cluster, instance, user, client_host, client_ip,
    '' AS client_program, 'login refused' AS what, database AS default_database, code AS error, toString(event_id) AS event
FROM tailrace.error_events
WHERE event_time >= {from:DateTime('UTC')} AND event_time < {to:DateTime('UTC')} AND kind = 'access_denied'
ORDER BY at, instance, event
