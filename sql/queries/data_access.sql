{%- include "parts/time_range.sql" -%}
{%- include "parts/working_hours.sql" -%}
{%- include "parts/data_access.sql" -%}
-- Accesses to data classes: one row per record, class and access (read, changed, may have touched), for counts, the
-- matrix and charts over time. Count actions, not rows: one action may be in several logs and touch several classes.
--
-- Replayed records replace the original ones (FINAL): the key begins with server and time, so only parts of the same
-- time are compared with each other. `rows_sent` is set in one row of each record.
{% set query -%}
WITH
    {{ shown_range(7) }},
    {{ bar_width() }},
    {{ touches() }} AS touched,
    arrayJoin(arrayZip(touched, arrayEnumerate(touched))) AS touch
SELECT
    {{ bar('accessed_at') }} AS time,
    toDateTime(data_access.event_time, 'UTC') AS accessed_at,
    {{ whose() }},
    touch.1.1 AS data_class,
    touch.1.2 AS access,
    {{ how_known() }} AS basis,
    outcome,
    NOT {{ in_working_hours('accessed_at') }} AS out_of_hours,
    if(touch.2 = 1, data_access.rows_sent, NULL) AS rows_sent
FROM tailrace.data_access_by_action(begin = range_start, until = range_end) AS data_access
{%- endset -%}
{{ with_empty_buckets(query, 'accessed_at') }}
