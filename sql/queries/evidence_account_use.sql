-- Usage of each account in the period by program and client, with the kinds of records. The account of an application
-- typically has one program and few clients; an interactive program on such an account is conspicuous. Logs name the program in
-- the login only: statements have the program of their connection's logins in the period, if these name exactly one.
-- Parameters: from, to.
WITH
    connections AS (
        SELECT cluster, instance, user, client_host, client_ip, connection_id, program_name,
            countIf(login_result = 'success') AS login_count,
            countIf(login_result = 'failure') AS refused_count,
            countIf(event_class IN ('query', 'admin')) AS statement_count,
            min(event_time) AS first_time, max(event_time) AS last_time
        FROM tailrace.audit_events
        WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC') AND user != ''
        GROUP BY cluster, instance, user, client_host, client_ip, connection_id, program_name
    ),
    named AS (
        SELECT *,
            max(program_name) OVER (PARTITION BY instance, connection_id, user) AS last_program,
            min(nullIf(program_name, '')) OVER (PARTITION BY instance, connection_id, user) AS first_program
        FROM connections
    )
SELECT
    cluster, instance, user,
    if(program_name = '' AND connection_id != 0 AND first_program = last_program, last_program, program_name) AS client_program,
    client_host, client_ip,
    sum(login_count) AS logins, sum(refused_count) AS refused_logins, sum(statement_count) AS statements,
    toDateTime(min(first_time), 'UTC') AS first_seen, toDateTime(max(last_time), 'UTC') AS last_seen
FROM named
GROUP BY cluster, instance, user, client_program, client_host, client_ip
ORDER BY instance, user, client_program, client_host, client_ip
