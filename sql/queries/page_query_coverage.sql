WITH
{%- include "parts/read_slots.sql" -%}
{%- set chosen -%}
    (empty({clusters:Array(String)}) OR cluster IN {clusters:Array(String)})
            AND (empty({servers:Array(String)}) OR instance IN {servers:Array(String)})
{%- endset %}
    , -- The first and the last day of each slow query log. Of the minutes, only those of these days are read.
    days AS (
        SELECT toString(instance) AS server, min(day) AS first_day, max(day) AS last_day
        FROM tailrace.query_classes_1d
        WHERE has({sources:Array(String)}, 'slowlog') AND {{ chosen }}
        GROUP BY server
    )
-- Since when slow query logs have records, and in which slots they were read: one row per server. A bar of a chart without records is
-- 0 only if the logs were read, otherwise it is unknown (tailrace_pages/read_bars.py). `first_second` is the Unix time of the first
-- record, 0 without any, `last_second` that of the last record or census; parts/read_slots.sql describes the other columns.
-- Parameters: from, to, width, clusters and servers (empty for all), sources (kinds of logs).
SELECT
    instance, source, max(first_seconds) AS first_second, max(census_seconds) AS census_second, max(last_seconds) AS last_second,
    any(slot_seconds) AS step,
    arraySort(groupUniqArrayArray(slots_read)) AS slots
FROM (
    SELECT * FROM read_slots
    UNION ALL
    SELECT server, 'slowlog', toUInt32(first_day), 0, toUInt32(last_day), [] FROM days
    UNION ALL
    SELECT toString(instance), 'slowlog', toUInt32(min(minute)), 0, toUInt32(max(minute)), []
    FROM tailrace.query_load_1m
    WHERE toStartOfDay(minute) IN (SELECT arrayJoin([first_day, last_day]) FROM days) AND {{ chosen }}
    GROUP BY instance)
GROUP BY instance, source
ORDER BY instance, source
