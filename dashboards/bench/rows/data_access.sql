{%- from "parts.sql" import cluster, databases, normal, one_of, query_id, random, routes, servers, statement, time, users with context -%}
-- Who touched which class of data.
SELECT generateUUIDv4() AS event_id, hex(cityHash64(number)) AS action_id, {{ time }} AS event_time, {{ cluster }} AS cluster,
    {{ one_of(servers, 2) }} AS instance, 'audit' AS source, cityHash64(number, 3) % 4000 AS connection_id,
    {{ one_of(users, 5) }} AS user, concat('10.1.', toString(number % 8), '.', toString(number % 200)) AS src_ip, src_ip AS host,
    ['web','mysql','dbeaver'][1 + number % 3] AS program, {{ databases }}[1 + statement % 8] AS database,
    [concat(database, '.t', toString(statement % 30))] AS tables,
    [['cardholder','pii','health','credentials'][1 + statement % 4]] AS data_class,
    if(statement % 4 = 2, [], data_class) AS data_class_read, if(statement % 4 = 2, data_class, []) AS data_class_written,
    ['columns'] AS basis, if(statement % 4 = 2, 'write', 'read') AS mode, ['SELECT','SELECT','UPDATE','INSERT'][1 + statement % 4] AS verb,
    {{ query_id }} AS query_id, cityHash64(number, 7) % 500 AS rows_sent, if(number % 500 = 0, 'denied', 'success') AS outcome
FROM (SELECT number, {{ statement }} AS statement FROM numbers({{ rows }}))
