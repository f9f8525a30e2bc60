{%- from "parts.sql" import cluster, databases, normal, one_of, query_id, random, routes, servers, statement, time, users with context -%}
-- Requests of an application, seven calls each; spans live for 30 days.
SELECT toDateTime64({{ time }}, 9, 'UTC') AS Timestamp, lower(concat(hex(cityHash64(trace, 11)), hex(cityHash64(trace, 12)))) AS TraceId,
    lower(hex(cityHash64(number, 13))) AS SpanId, if(number % 8 = 0, 'Server', 'Client') AS SpanKind,
    if(SpanKind = 'Server', {{ routes }}[1 + trace % 8], 'SELECT') AS SpanName, 'web' AS ServiceName,
    toUInt64(1e6 * exp({{ normal(4) }})) AS Duration, 'Unset' AS StatusCode,
    if(SpanKind = 'Server', 0, {{ query_id }}) AS query_id, if(SpanKind = 'Server', '', 'tailrace-1') AS rule_set,
    if(SpanKind = 'Server', '', concat('select ', toString(statement))) AS fingerprint,
    if(SpanKind = 'Server', SpanName, '') AS endpoint
FROM (SELECT number, intDiv(number, 8) AS trace, {{ statement }} AS statement FROM numbers({{ rows }}))
WHERE Timestamp >= {{ end }} - 29 * 86400
