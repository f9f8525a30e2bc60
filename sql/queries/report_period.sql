{%- include "parts/time_range.sql" -%}
-- The period of the report, [from, to), and the time when it was drawn, for printed pages. `first_record` is the first day (UTC) of
-- which a record of any log is stored: a report of an earlier period is empty for that reason, and its numbers are unknown.
WITH
    {{ shown_range(7) }},
    (SELECT minOrNull(record_day) FROM tailrace.log_days) AS first_day
SELECT
    {% if from_dttm %}formatDateTime(range_start, '%F %H:%i'){% else %}'the beginning'{% endif %} AS period_from,
    {% if to_dttm %}formatDateTime(range_end, '%F %H:%i'){% else %}'now'{% endif %} AS period_to,
    formatDateTime(now('UTC'), '%F %H:%i') AS drawn_at,
    multiIf(isNull(first_day), 'none', toDateTime(first_day, 'UTC') >= range_end, concat(toString(first_day), ', after the period'),
        toString(first_day)) AS first_record
