{%- from "parts.sql" import cluster, databases, normal, one_of, query_id, random, routes, servers, statement, time, users with context -%}
-- Messages of error logs.
SELECT generateUUIDv4() AS event_id, {{ cluster }} AS cluster, {{ one_of(servers, 2) }} AS instance, 'errorlog' AS source,
    '/var/log/mysql/error.log' AS log, 1 AS generation, number * 150 AS entry_offset, 150 AS entry_bytes,
    'mysql-error' AS format, {{ time }} AS event_time, ['Note','Note','Warning','Error'][1 + number % 4] AS level,
    ['other','other','access_denied','connection_aborted','connection_aborted','innodb_pressure','deadlock','replication_state',
        'server_state','plugin_change'][1 + cityHash64(number, 9) % 10] AS kind,
    concat('a message of the kind ', kind, ' with some words more') AS message, cityHash64(number, 3) % 4000 AS thread_id,
    if(kind IN ('access_denied', 'connection_aborted'), {{ one_of(users, 5) }}, '') AS user,
    concat('10.1.', toString(number % 8), '.', toString(number % 200)) AS ip,
    multiIf(kind = 'deadlock', map('transaction_1_statement', 'update a set b = ?', 'transaction_2_statement', 'update c set d = ?',
            'transaction_1_query_id', hex({{ query_id }}), 'rolled_back', '2'),
        kind = 'server_state', map('state', ['start','ready','shutdown'][1 + number % 3]),
        kind = 'innodb_pressure', map('loop_took_ms', toString(1000 + number % 9000)), map()) AS details
FROM (SELECT number, {{ statement }} AS statement FROM numbers({{ rows }}))
