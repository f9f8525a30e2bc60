{%- from "parts.sql" import cluster, databases, normal, one_of, query_id, random, routes, servers, statement, time, users with context -%}
-- Alerts of forty rules.
SELECT generateUUIDv4() AS alert_id, concat('rule-', toString(number % 40)) AS rule_id, concat('Rule ', toString(number % 40)) AS rule_title,
    ['low','medium','high','critical'][1 + number % 4] AS level, ['attack.credential-access'] AS tags, {{ cluster }} AS cluster,
    {{ one_of(servers, 2) }} AS instance, map('user', user) AS entity, concat('user=', user) AS entity_key, {{ time }} AS event_time,
    event_time AS window_from, event_time AS seen_at, event_time AS updated_at, 1 + number % 5 AS count, {{ one_of(users, 5) }} AS user,
    concat('10.1.0.', toString(number % 200)) AS src_ip
FROM numbers({{ rows }})
