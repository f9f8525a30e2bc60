WITH
{%- include "parts/read_slots.sql" -%}
    , -- The first day and the last record of each kind of log. Only the events of the first days are read, for the first second.
    days AS (
        SELECT event_table, toString(source) AS source, min(day) AS first_day, max(last_time) AS last_record
        FROM tailrace.entities_1d
        WHERE entity_kind = 'log' AND event_table != 'query_events' AND entities_1d.source IN {sources:Array(String)}
            AND (empty({clusters:Array(String)}) OR cluster IN {clusters:Array(String)})
            AND (empty({servers:Array(String)}) OR instance IN {servers:Array(String)})
        GROUP BY event_table, source
    )
-- Since when logs have records, and in which slots they were read: one row per kind of log. A bar of a chart without records is
-- 0 only if the log was read, otherwise it is unknown (tailrace_pages/read_bars.py). `first_second` is the Unix time of the first
-- record, 0 without any, `last_second` that of the last record or census; parts/read_slots.sql describes the other columns.
-- Parameters: from, to, width, clusters and servers (empty for all), sources (kinds of logs).
SELECT
    source, max(first_seconds) AS first_second, minIf(census_seconds, census_seconds > 0) AS census_second, max(last_seconds) AS last_second,
    any(slot_seconds) AS step,
    arraySort(groupUniqArrayArray(slots_read)) AS slots
FROM (
    SELECT source, first_seconds, census_seconds, last_seconds, slots_read FROM read_slots
    UNION ALL
    SELECT 'slowlog', toUInt32(min(minute)), 0, toUInt32(max(minute)), []
    FROM tailrace.query_load_1m
    WHERE has({sources:Array(String)}, 'slowlog') AND (empty({clusters:Array(String)}) OR cluster IN {clusters:Array(String)})
        AND (empty({servers:Array(String)}) OR instance IN {servers:Array(String)})
    HAVING count() > 0
    UNION ALL
    SELECT source, toUInt32(min(first_day)), 0, toUInt32(max(last_record)), [] FROM days GROUP BY source
    UNION ALL
    SELECT toString(source), toUInt32(min(event_time)), 0, 0, []
    FROM tailrace.audit_events
    WHERE toStartOfDay(toDateTime(event_time, 'UTC')) IN (SELECT first_day FROM days WHERE event_table = 'audit_events')
        AND source IN {sources:Array(String)} AND (empty({clusters:Array(String)}) OR cluster IN {clusters:Array(String)})
        AND (empty({servers:Array(String)}) OR instance IN {servers:Array(String)})
    GROUP BY source
    UNION ALL
    SELECT 'errorlog', toUInt32(min(event_time)), 0, 0, []
    FROM tailrace.error_events
    WHERE has({sources:Array(String)}, 'errorlog') AND (empty({clusters:Array(String)}) OR cluster IN {clusters:Array(String)})
        AND (empty({servers:Array(String)}) OR instance IN {servers:Array(String)})
        AND toStartOfDay(toDateTime(event_time, 'UTC')) IN (SELECT first_day FROM days WHERE event_table = 'error_events')
    HAVING count() > 0)
GROUP BY source
ORDER BY source
