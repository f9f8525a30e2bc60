{#- Where the executions of a long range come from, for a WITH after `oldest`, `range_start` and `range_end`, its three ends: whole
    days from query_classes_1d, whole hours of the other days from query_classes_1h, and the rest from the events. Every
    execution is in one of them, whatever the minutes of the ends are. partial_day_1 to 3 and partial_hour_1 to 3 are the days
    and hours that contain an end; 1970 stands for an end at midnight or at a full hour. -#}
    toDateTime(0, 'UTC') AS none,
    if(oldest = toStartOfDay(oldest), none, toStartOfDay(oldest)) AS partial_day_1,
    if(range_start = toStartOfDay(range_start), none, toStartOfDay(range_start)) AS partial_day_2,
    if(range_end = toStartOfDay(range_end), none, toStartOfDay(range_end)) AS partial_day_3,
    if(oldest = toStartOfHour(oldest), none, toStartOfHour(oldest)) AS partial_hour_1,
    if(range_start = toStartOfHour(range_start), none, toStartOfHour(range_start)) AS partial_hour_2,
    if(range_end = toStartOfHour(range_end), none, toStartOfHour(range_end)) AS partial_hour_3
{%- macro in_whole_days() -%}
day >= oldest AND day < range_end AND day NOT IN (partial_day_2, partial_day_3)
{%- endmacro -%}
{%- macro in_whole_hours(or_also='0') -%}
hour >= oldest AND hour < range_end AND hour NOT IN (partial_hour_2, partial_hour_3)
            AND (
                hour >= partial_day_1 AND hour < partial_day_1 + 86400
                OR hour >= partial_day_2 AND hour < partial_day_2 + 86400
                OR hour >= partial_day_3 AND hour < partial_day_3 + 86400
                OR {{ or_also }})
{%- endmacro -%}
{%- macro in_partial_hours(or_also='0') -%}
event_time >= oldest AND event_time < range_end
            AND (
                event_time >= partial_hour_1 AND event_time < partial_hour_1 + 3600
                OR event_time >= partial_hour_2 AND event_time < partial_hour_2 + 3600
                OR event_time >= partial_hour_3 AND event_time < partial_hour_3 + 3600
                OR {{ or_also }})
{%- endmacro -%}
{#- The events that are read: all of a short range, for which the template has `exact` and no rollup; without it, those of a range
    that the column `exact` calls short, else those of the hours that rollups do not have. -#}
{%- macro of_events(exact) -%}
{%- if exact -%}
event_time >= oldest AND event_time < range_end
{%- else -%}
{{ in_partial_hours('exact') }}
{%- endif -%}
{%- endmacro -%}
