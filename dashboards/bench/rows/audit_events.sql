{%- from "parts.sql" import cluster, databases, normal, one_of, query_id, random, routes, servers, statement, tables, time, users with context -%}
-- Audit records: queries, logins, some of them refused, now and then a GRANT.
SELECT generateUUIDv4() AS event_id, {{ cluster }} AS cluster, {{ one_of(servers, 2) }} AS instance, 'audit' AS source,
    '/var/log/mysql/audit.log' AS log, 1 AS generation, number * 200 AS entry_offset, 200 AS entry_bytes,
    'mariadb-server-audit' AS format, {{ time }} AS event_time,
    multiIf(number % 20 = 0, 'connection', 'query') AS event_class,
    multiIf(number % 400 = 0, 'FAILED_CONNECT', number % 20 = 0, 'CONNECT', 'QUERY') AS command,
    multiIf(number % 400 = 0, 1045, number % 997 = 0, 1142, 0) AS status, cityHash64(number, 3) % 4000 AS connection_id,
    {{ one_of(users, 5) }} AS user, concat('10.1.', toString(number % 8), '.', toString(number % 200)) AS ip, ip AS host,
    {{ databases }}[1 + statement % 8] AS database, if(event_class = 'query', {{ query_id }}, NULL) AS query_id,
    'tailrace-1' AS rule_set, multiIf(event_class = 'connection', '', number % 4001 = 0, 'GRANT', number % 1999 = 0, 'ALTER',
        ['SELECT','SELECT','UPDATE','INSERT'][1 + statement % 4]) AS verb,
    if(verb = 'SELECT', {{ tables }}, []) AS tables_read,
    if(verb IN ('UPDATE', 'INSERT', 'ALTER'), {{ tables }}, []) AS tables_written,
    if(event_class = 'connection', ['web','mysql','dbeaver'][1 + number % 3], '') AS program_name
FROM (SELECT number, {{ statement }} AS statement FROM numbers({{ rows }}))
