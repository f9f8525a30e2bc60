{%- include "parts/logging.sql" -%}
{%- include "parts/utc.sql" -%}
{%- include "parts/display_names.sql" -%}
{%- include "parts/covered_slots.sql" -%}
-- Load and latency of slow queries, one row per measure and time bucket, for charts over time and for totals.
--
-- `time` is a bucket whose width follows the time range, so that a chart has at most about 200 points; the part of the
-- bucket inside the range is `bucket_seconds` (the newest bucket is incomplete). Empty rows are added for every
-- instance and bucket: time without entries is drawn as zero load and as a break in the percentiles, not as a
-- connecting line. In a chart over time the load is NULL, unknown, in buckets in which the slow log of the instance was not
-- read: before its first entry, after its last entry or census, and since the first census in buckets of which coverage_1m does
-- not have each minute as covered. Percentiles are computed over `seconds` weighted with `weight`, never averaged. A bucket with a
-- change of the logging settings of a server is marked (`changed`, in the added rows), so that no line connects both
-- sides. `latest` are entries since that change, for percentiles of the whole range; `logged` describes the settings.
--
-- Superset fills in the Jinja parts from the filters of the dashboard. Totals come from the rollup per minute, which
-- contains no statements; for one selected statement its few events are read instead.
{%- set over_time = 'BASE_AXIS' in columns | default([], true) | string -%}
{%- set picked = filter_values('query_id') + filter_values('query') -%}
{%- macro passes_filter_on(column) -%}
    array{{ (filter_values(column) or ['']) | where_in }}[1] AS {{ column }}
{%- endmacro %}
WITH
    (SELECT if(count() = 0, now('UTC'), min(minute)) FROM tailrace.query_load_1m) AS first_minute,
    greatest({{ utc(from_dttm) if from_dttm else 'first_minute' }}, first_minute) AS range_start,
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    range_end - range_start AS shown,
    multiIf(
        shown <= 4 * 3600, 60,
        shown <= 14 * 3600, 300,
        shown <= 30 * 3600, 600,
        shown <= 7 * 86400, 3600,
        shown <= 30 * 86400, 6 * 3600,
        86400) AS width,
    {{ logging_of_range() }},
    {{ latest_changes() }},
    changes AS (
        SELECT instance, groupUniqArrayIf(intDiv(toUInt32(since), width) * width, since > first_since) AS changed_in FROM (
            SELECT instance, since, min(since) OVER (PARTITION BY instance) AS first_since
            FROM tailrace.effective_logging_settings
            WHERE since < range_end)
        GROUP BY instance),
{%- if over_time %}
    reads AS (
        SELECT instance, min(first_entry) AS read_from, max(last_read) AS read_to, min(first_census) AS census_from,
            groupUniqArrayArray(slots) AS read_slots
        FROM (
            SELECT instance, toUInt32(min(minute)) AS first_entry, toUInt32(max(minute)) AS last_read,
                toUInt32(4294967295) AS first_census, [] :: Array(UInt32) AS slots
            FROM tailrace.query_load_1m
            GROUP BY instance
            UNION ALL
            SELECT instance, toUInt32(min(at)), toUInt32(max(at)), toUInt32(min(at)), []
            FROM tailrace.ledger
            WHERE kind = 'CENSUS' AND source = 'slowlog'
            GROUP BY instance
            UNION ALL
            SELECT log_instance, 4294967295, 0, 4294967295, groupUniqArray(slot)
            FROM (
{{ covered_slots('toStartOfMinute(range_start)', 'toStartOfMinute(range_end)', 'width', "['slowlog']") }})
            GROUP BY log_instance)
        GROUP BY instance),
{%- endif %}
    measures AS (
{%- if picked %}
        SELECT
            toStartOfMinute(toDateTime(event_time, 'UTC')) AS minute,
            cluster, instance, {{ named('database') }}, {{ named('user') }},
            leftPad(hex(query_id), 16, '0') AS query_id,
            fingerprint AS query,
            query_events.query_time AS seconds,
            1 AS entries,
            query_events.weight AS weight,
            query_events.query_time * query_events.weight AS query_time,
            query_events.rows_examined * query_events.weight AS rows_examined,
            query_events.rows_sent * query_events.weight AS rows_sent
        FROM tailrace.query_events
        ANY LEFT JOIN tailrace.fingerprints USING (query_id, rule_set)
        WHERE query_events.query_id IN (
            SELECT query_id FROM tailrace.fingerprints
            WHERE leftPad(hex(query_id), 16, '0') IN {{ picked | where_in }} OR fingerprint IN {{ picked | where_in }})
{%- else %}
        SELECT
            minute, cluster, instance, {{ named('database') }}, {{ named('user') }}, '' AS query_id, '' AS query,
            query_time_of_bucket AS seconds, count AS entries, weight, query_time, rows_examined, rows_sent
        FROM tailrace.query_load_1m
{%- endif %}
    )
SELECT
    toDateTime(intDiv(toUInt32(minute), width) * width, 'UTC') AS time,
    minute, cluster, instance, database, user, query_id, query,
    seconds, entries, weight, query_time, rows_examined, rows_sent,
    greatest(1, least(time + width, range_end) - greatest(time, range_start)) AS bucket_seconds,
    0 AS changed,
    {{ is_latest('instance', 'minute') }} AS latest,
    {{ logged_by('instance') }} AS logged
FROM measures
WHERE minute >= range_start AND minute < range_end
UNION ALL
SELECT
    toDateTime(arrayJoin(range(intDiv(toUInt32(range_start), width) * width, toUInt32(range_end), width)), 'UTC') AS time,
    greatest(time, range_start) AS minute,
    cluster, instance,
    {{ passes_filter_on('database') }}, {{ passes_filter_on('user') }},
    {{ passes_filter_on('query_id') }}, {{ passes_filter_on('query') }},
    0, 0, 0,
{%- if over_time %}
    if(toUInt32(time) + width > read_from AND toUInt32(time) <= read_to
        AND (toUInt32(minute) < census_from OR has(read_slots, toUInt32(time))),
        0, NULL),
{%- else %}
    0,
{%- endif %}
    0, 0,
    greatest(1, least(time + width, range_end) - greatest(time, range_start)) AS bucket_seconds,
    has(changed_in, toUInt32(time)), 1,
    {{ logged_by('instance') }}
FROM (SELECT DISTINCT cluster, instance FROM measures WHERE minute >= range_start AND minute < range_end) AS servers
LEFT JOIN changes USING (instance)
{%- if over_time %}
LEFT JOIN reads USING (instance)
{%- endif %}
