-- Usage of each account in the period by program and client, with the kinds of records. The account of an application
-- typically has one program and few clients; an interactive program on such an account is conspicuous.
-- Parameters: from, to.
SELECT
    cluster, instance, user, program_name AS client_program, client_host, client_ip,
    countIf(event_class = 'connection' AND status = 0 AND match(lower(command), '^connect|^change user')) AS logins,
    countIf(event_class = 'connection' AND status != 0) AS refused_logins,
    countIf(event_class IN ('query', 'admin')) AS statements,
    toDateTime(min(event_time), 'UTC') AS first_seen, toDateTime(max(event_time), 'UTC') AS last_seen
FROM tailrace.audit_events
WHERE event_time >= {from:DateTime('UTC')} AND event_time < {to:DateTime('UTC')} AND user != ''
GROUP BY cluster, instance, user, client_program, client_host, client_ip
ORDER BY instance, user, client_program, client_host, client_ip
