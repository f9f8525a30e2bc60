{%- from "parts.sql" import cluster, databases, normal, one_of, query_id, random, routes, servers, statement, time, users with context -%}
-- Two plans of each statement.
SELECT 'shop' AS cluster, 'shop-1' AS instance, cityHash64('statement', intDiv(number, 2)) AS query_id,
    hex(cityHash64(intDiv(number, 2), number % 2)) AS plan_hash, 'plan-1' AS hash_rules, 'slowlog' AS source,
    toDateTime64({{ end }}, 6, 'UTC') AS seen_at, toDateTime64({{ end }} - 86400, 6, 'UTC') AS first_seen_at, 'shop' AS database,
    ['t'] AS tables, ['ALL'] AS access_types, [''] AS indexes, number AS cost, 'query block\n  t: ALL, 900 rows' AS tree,
    '{}' AS model, ['full scan · t: all rows are read · reads 900 rows'] AS advice
FROM numbers({{ 2 * statements }})
