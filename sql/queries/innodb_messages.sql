{%- include "parts/time_range.sql" -%}
{%- include "parts/innodb_message.sql" -%}
-- Messages of InnoDB in the error logs, with the values of the InnoDB monitor if the log contains one.
{% set query -%}
WITH
    {{ shown_range(1) }},
    {{ bar_width() }}
SELECT
    {{ bar('event_time') }} AS time,
    toDateTime(event_time, 'UTC') AS at,
    cluster, instance,
    multiIf(
        kind = 'innodb_monitor', 'monitor',
        kind != 'innodb_pressure', replaceAll(kind, '_', ' '),
        details['loop_took_ms'] != '', 'page cleaner is late',
        details['wait_place'] != '' OR details['wait_seconds'] != '', 'long semaphore wait',
        details['checkpoint_age'] != '' OR message ILIKE '%checkpoint%' OR message ILIKE '%redo log%', 'redo log nearly full',
        message ILIKE '%history list%' OR message ILIKE '%purge%', 'purge is behind',
        message ILIKE '%buffer pool%' OR message ILIKE '%free block%', 'buffer pool is short', 'other pressure') AS message_type,
    level, replaceRegexpOne(message, '^=+\\s+', '') AS message,
    toUInt64OrNull(details['loop_took_ms']) / 1000 AS loop_seconds,
    toFloat64OrNull(coalesce(nullIf(details['semaphore_longest_seconds'], ''), details['wait_seconds'])) AS waited_seconds,
    toUInt64OrNull(details['history_list_length']) AS history_list_length,
    toUInt64OrNull(details['checkpoint_age']) AS checkpoint_age,
    toUInt64OrNull(details['lock_waits']) AS lock_waits,
    toUInt64OrNull(details['longest_transaction_seconds']) AS longest_transaction_seconds
FROM tailrace.error_events
WHERE event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
    AND (kind = 'innodb_monitor' OR {{ is_innodb_message() }})
{%- endset -%}
{{ with_empty_buckets(query, 'at') }}
