{%- from "parts.sql" import cluster, databases, normal, one_of, query_id, random, routes, servers, statement, time, users with context -%}
-- One census, frontier, entry and event posting for each minute of each file.
SELECT {{ cluster }} AS cluster, {{ servers }}[1 + number % 12] AS instance, 'slowlog' AS source, '/var/log/mysql/slow.log' AS log, log AS path,
    1 AS generation, if(kind = 'EVENT', 'PARSER', 'FRAMER') AS stage, kind, '' AS detail,
    multiIf(kind = 'CENSUS', 0, kind = 'FRONTIER', 4000 * (minute + 1), 4000 * minute) AS from_offset,
    if(kind = 'CENSUS', 0, 4000 * (minute + 1)) AS to_offset, if(kind IN ('ENTRY', 'EVENT'), 10, if(kind = 'CENSUS', 1, 0)) AS count,
    if(kind IN ('ENTRY', 'EVENT'), 4000, 0) AS bytes, if(kind = 'CENSUS', 4000 * (minute + 1), 0) AS size, 77 AS inode,
    toDateTime64({{ end }} - {{ days }} * 86400 + 60 * minute + 30, 6, 'UTC') AS at
FROM (SELECT number, intDiv(number, 12) AS minute FROM numbers({{ 12 * days * 1440 }}))
ARRAY JOIN ['CENSUS','FRONTIER','ENTRY','EVENT'] AS kind
