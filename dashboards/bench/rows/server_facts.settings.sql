{%- from "parts.sql" import cluster, databases, normal, one_of, query_id, random, routes, servers, statement, time, users with context -%}
-- The logging settings of servers, constant over time.
SELECT {{ cluster }} AS cluster, {{ servers }}[1 + number % 12] AS instance, 'settings' AS kind,
    ['long_query_time','slow_query_log'][1 + intDiv(number, 12)] AS key, toDateTime64({{ end }} - {{ days }} * 86400, 3, 'UTC') AS since,
    toDateTime64({{ end }}, 3, 'UTC') AS last_seen, map('value', ['0.02','ON'][1 + intDiv(number, 12)]) AS attributes
FROM numbers(24)
