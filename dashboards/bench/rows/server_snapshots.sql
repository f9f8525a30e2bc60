{%- from "parts.sql" import cluster, databases, normal, one_of, query_id, random, routes, servers, statement, time, users with context -%}
-- A snapshot of each server every hour.
SELECT {{ cluster }} AS cluster, {{ servers }}[1 + number % 12] AS instance, arrayJoin(['settings','accounts','server']) AS kind,
    toDateTime64({{ end }} - 3600 * intDiv(number, 12), 3, 'UTC') AS at, 1 AS part, 1 AS parts, 'mysql' AS product, '8.4.3' AS version,
    'hourly' AS reason, 'ok' AS status, 1 AS facts
FROM numbers({{ 12 * days * 24 }})
