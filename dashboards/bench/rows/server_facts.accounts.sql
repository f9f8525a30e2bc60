{%- from "parts.sql" import cluster, databases, normal, one_of, query_id, random, routes, servers, statement, time, users with context -%}
-- Accounts of each server.
SELECT {{ cluster }} AS cluster, {{ servers }}[1 + number % 12] AS instance, 'accounts' AS kind,
    concat('''', {{ users }}[1 + intDiv(number, 12) % 12], '''@''%''') AS key, toDateTime64({{ end }} - {{ days }} * 86400, 3, 'UTC') AS since,
    toDateTime64({{ end }}, 3, 'UTC') AS last_seen, map('user', {{ users }}[1 + intDiv(number, 12) % 12], 'host', '%', 'locked', 'no') AS attributes
FROM numbers(144)
