{%- from "parts.sql" import cluster, databases, normal, one_of, query_id, random, routes, servers, statement, time, users with context -%}
-- The statements; one of fifty is new.
SELECT cityHash64('statement', number) AS query_id, 'tailrace-1' AS rule_set,
    concat('select c', toString(number), ' from t', toString(number % 30), ' where id = ?') AS fingerprint, 'SELECT' AS verb,
    toDateTime64({{ end }}, 6, 'UTC') AS seen_at, toDateTime64({{ end }} - if(number % 50 = 0, 3600, {{ days }} * 86400), 6, 'UTC') AS first_seen_at
FROM numbers({{ statements }})
