{%- include "parts/statement.sql" -%}
-- The slow log settings of each server in the time range, by interval. Includes servers with entries and servers with
-- known settings; `unknown` if capture did not query the server.
WITH
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    {{ utc(from_dttm) if from_dttm else "range_end - 86400" }} AS range_start,
    known AS (
        SELECT cluster, instance, since, until, logged
        FROM tailrace.effective_logging_settings
        WHERE since < range_end AND until > range_start),
    servers AS (
        SELECT cluster, instance, min(known_since) AS known_since FROM (
            SELECT cluster, instance, range_end AS known_since FROM tailrace.query_load_1m
            WHERE minute >= range_start AND minute < range_end
            GROUP BY cluster, instance
            UNION ALL
            SELECT cluster, instance, since FROM known)
        GROUP BY cluster, instance)
SELECT
    cluster, instance,
    greatest(since, range_start) AS from_time,
    least(until, range_end) AS to_time,
    since AS seen_first,
    logged
FROM known
UNION ALL
SELECT
    cluster, instance, range_start, least(known_since, range_end), range_start, 'unknown'
FROM servers
WHERE known_since > range_start
