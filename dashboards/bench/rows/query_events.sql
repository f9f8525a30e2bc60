{%- from "parts.sql" import cluster, databases, normal, one_of, query_id, random, routes, servers, statement, tables, time, users with context -%}
-- Slow log entries: few statements take most of the time, each with a latency of its own.
SELECT generateUUIDv4() AS event_id, {{ cluster }} AS cluster, {{ one_of(servers, 2) }} AS instance, 'slowlog' AS source,
    '/var/log/mysql/slow.log' AS log, 1 AS generation, number * 400 AS entry_offset, 400 AS entry_bytes, 'mysql-slow' AS format,
    {{ time }} AS event_time, cityHash64(number, 3) % 4000 AS connection_id, {{ users }}[1 + statement % 12] AS user,
    concat('app-', toString(number % 16)) AS host, {{ databases }}[1 + statement % 8] AS database,
    {{ query_id }} AS query_id, 'tailrace-1' AS rule_set, ['SELECT','SELECT','UPDATE','INSERT'][1 + statement % 4] AS verb,
    exp(log(0.02 + (statement % 37) / 20.) + 0.7 * {{ normal(4) }}) AS query_time,
    if(statement % 5 = 0, query_time * {{ random(6) }}, 0.0001) AS lock_time,
    1 + cityHash64(number, 7) % 50 AS rows_sent, toUInt64(exp(3 + statement % 9 + {{ normal(8) }})) AS rows_examined,
    if(cityHash64(number, 10) % 300 = 0, [1205, 1213, 1062, 3024][1 + number % 4], NULL) AS error_code,
    if(instance LIKE 'dwh%', 10, 1) AS weight,
    if(statement % 3 = 0, hex(cityHash64(statement, number % 40 = 0)), '') AS plan_hash,
    if(instance LIKE 'billing%', map('InnoDB_IO_r_ops', toString(number % 90), 'InnoDB_IO_r_bytes', toString(16384 * (number % 90)),
        'InnoDB_IO_r_wait', toString(query_time / 3), 'InnoDB_rec_lock_wait', toString(lock_time),
        'InnoDB_queue_wait', '0.000000', 'InnoDB_pages_distinct', toString(number % 900)), map()) AS attributes,
    if(number % 5 < 3, map('application', 'web', 'route', {{ routes }}[1 + statement % 8]), map()) AS tags,
    if(number % 20 = 0, lower(concat(hex(cityHash64(number, 11)), hex(cityHash64(number, 12)))), '') AS trace_id,
    if(number % 20 = 0, lower(hex(cityHash64(number, 13))), '') AS span_id,
    if(verb = 'SELECT', {{ tables }}, []) AS tables_read, if(verb = 'SELECT', [], {{ tables }}) AS tables_written
FROM (SELECT number, {{ statement }} AS statement FROM numbers({{ rows }}))
