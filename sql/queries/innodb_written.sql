{%- include "parts/time_range.sql" -%}
{%- include "parts/innodb_message.sql" -%}
-- Servers that log InnoDB counters and messages in the time range, and the settings that enable them on the others.
-- Reads at most the last week of the range.
WITH
    {{ shown_range(1) }},
    greatest(range_start, range_end - 7 * 86400) AS counted_from
SELECT
    cluster, instance,
    if(sum(entries) = 0, 'no slow log', arrayStringConcat(arraySort(groupUniqArrayArray(formats)), ', ')) AS log_format,
    sum(entries) AS logged_entries,
    sum(with_counters) AS entries_with_counters,
    sum(messages) AS innodb_messages,
    sum(monitors) AS innodb_monitors,
    multiIf(
        logged_entries = 0, 'no slow log entries in this time',
        entries_with_counters > 0, 'yes',
        'not written by this server: Percona Server writes them with log_slow_verbosity = full, MariaDB with innodb, MySQL never'
    ) AS counters,
    multiIf(
        innodb_messages + innodb_monitors > 0, 'yes',
        sum(all_messages) = 0, 'unknown: no message of its error log in this time',
        concat('none among the ', toString(sum(all_messages)), ' messages of its error log')) AS error_log
FROM (
    SELECT
        cluster, instance, groupUniqArray(format) AS formats, count() AS entries,
        countIf(mapContains(attributes, 'InnoDB_IO_r_ops') OR mapContains(attributes, 'Pages_accessed')) AS with_counters,
        0 AS messages, 0 AS monitors, 0 AS all_messages
    FROM tailrace.query_events
    WHERE event_time >= counted_from AND event_time < toDateTime64(range_end, 6, 'UTC')
    GROUP BY cluster, instance
    UNION ALL
    SELECT
        cluster, instance, [], 0, 0,
        countIf({{ is_innodb_message() }}), countIf(kind = 'innodb_monitor'), count()
    FROM tailrace.error_events
    WHERE event_time >= counted_from AND event_time < toDateTime64(range_end, 6, 'UTC')
    GROUP BY cluster, instance)
GROUP BY cluster, instance
