{%- include "parts/logging.sql" -%}
{%- include "parts/utc.sql" -%}
{%- include "parts/display_names.sql" -%}
-- Total time of each statement: rows to be grouped by query, for any filter.
--
-- Ranges up to two days are read from the events, exact to the second; longer ranges from the hourly rollup, with whole
-- hours. Percentiles are computed over `seconds` weighted with `weight`, never averaged, and cover the time since the
-- logging settings of each server last changed (`latest`).
WITH
    {{ utc(from_dttm) if from_dttm else "toDateTime(0, 'UTC')" }} AS range_start,
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    range_end - range_start <= 2 * 86400 AS exact,
    {{ logging_of_range() }},
    {{ latest_changes() }},
    measures AS (
        SELECT
            toDateTime(event_time, 'UTC') AS time, cluster, instance, {{ named('database') }}, {{ named('user') }}, query_id, rule_set,
            query_events.query_time AS seconds,
            1 AS entries,
            query_events.weight AS weight,
            query_events.query_time * query_events.weight AS query_time,
            query_events.rows_examined * query_events.weight AS rows_examined,
            query_events.rows_sent * query_events.weight AS rows_sent
        FROM tailrace.query_events
        WHERE exact AND event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
        UNION ALL
        SELECT
            hour AS time, cluster, instance, {{ named('database') }}, {{ named('user') }}, query_id, rule_set,
            query_time_of_bucket AS seconds, count AS entries, weight, query_time, rows_examined, rows_sent
        FROM tailrace.query_classes_1h
        WHERE NOT exact AND hour >= range_start AND hour < range_end
    )
SELECT
    time, cluster, instance, database, user,
    leftPad(hex(query_id), 16, '0') AS query_id,
    fingerprint AS query,
    verb, seconds, entries, weight, query_time, rows_examined, rows_sent,
    {{ is_latest('instance', 'time') }} AS latest,
    {{ logged_by('instance') }} AS logged
FROM measures
ANY LEFT JOIN tailrace.fingerprints USING (query_id, rule_set)
