{%- include "parts/time_range.sql" -%}
{%- include "parts/logging.sql" -%}
{%- include "parts/display_names.sql" -%}
-- InnoDB waits of statements, from slow logs: rows to be grouped by statement, server or time bucket.
--
-- Every server logs lock_time. Percona Server (`InnoDB_*`, log_slow_verbosity = full) and MariaDB (`Pages_*`,
-- log_slow_verbosity = innodb) log InnoDB counters; `has_counters` is 1 for entries with counters, `has_wait_counters` for those of
-- Percona Server. The counters are read from the entries, up to a week; longer ranges use the hourly rollup, which
-- contains the lock time only.
{%- macro counter(name, other) -%} toFloat64OrZero(attributes['{{ name }}'])
    {%- if other %} + toFloat64OrZero(attributes['{{ other }}']){% endif -%}
{%- endmacro %}
{% set query -%}
WITH
    {{ shown_range(1) }},
    {{ bar_width() }},
    {{ logging_of_range() }},
    measures AS (
        SELECT
            event_time, cluster, instance, database, user, query_id, rule_set, 1 AS entries, weight,
            weight * query_events.query_time AS query_time, weight * query_events.lock_time AS lock_time,
            mapContains(attributes, 'InnoDB_IO_r_ops') OR mapContains(attributes, 'Pages_accessed') AS has_counters,
            mapContains(attributes, 'InnoDB_IO_r_ops') AS has_wait_counters,
            weight * ({{ counter('InnoDB_IO_r_wait') }}) AS read_wait,
            weight * ({{ counter('InnoDB_IO_r_ops', 'Pages_read') }}) AS reads,
            weight * ({{ counter('InnoDB_IO_r_bytes') }}) AS read_bytes,
            weight * ({{ counter('InnoDB_rec_lock_wait') }}) AS row_lock_wait,
            weight * ({{ counter('InnoDB_queue_wait') }}) AS queue_wait,
            weight * ({{ counter('InnoDB_pages_distinct', 'Pages_accessed') }}) AS pages
        FROM tailrace.query_events
        WHERE shown <= 7 * 86400 AND event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
        UNION ALL
        SELECT
            toDateTime64(hour, 6, 'UTC'), cluster, instance, database, user, query_id, rule_set, count, weight,
            query_time, lock_time, 0, 0, 0, 0, 0, 0, 0, 0
        FROM tailrace.query_classes_1h
        WHERE shown > 7 * 86400 AND hour >= range_start AND hour < range_end
    )
SELECT
    {{ bar('event_time') }} AS time,
    toDateTime(event_time, 'UTC') AS at,
    width AS bucket_seconds,
    cluster, instance, {{ named('database') }}, {{ named('user') }},
    leftPad(hex(query_id), 16, '0') AS query_id,
    fingerprint AS query,
    entries, weight, query_time, lock_time, has_counters, has_wait_counters, read_wait, reads, read_bytes, row_lock_wait, queue_wait, pages,
    {{ logged_by('instance') }} AS logged
FROM measures
ANY LEFT JOIN tailrace.fingerprints USING (query_id, rule_set)
{%- endset -%}
{{ with_empty_buckets(query, 'at') }}
