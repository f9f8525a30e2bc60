{#- Where the executions of a long range come from, for a WITH after `oldest`, `before_end` (the end of the earlier period, or
    `range_start`), `range_start` and `range_end`, its four ends: whole days from query_classes_1d, whole hours of the other days from
    query_classes_1h, and the rest from the events. Every execution is in one of them, whatever the minutes of the ends are; nothing is
    read between `before_end` and `range_start`. partial_day_1 to 4 and partial_hour_1 to 4 are the days and hours that contain an
    end; 1970 stands for an end at midnight or at a full hour. -#}
    toDateTime(0, 'UTC') AS none
{%- for end in ('oldest', 'range_start', 'range_end', 'before_end') %},
    if({{ end }} = toStartOfDay({{ end }}), none, toStartOfDay({{ end }})) AS partial_day_{{ loop.index }},
    if({{ end }} = toStartOfHour({{ end }}), none, toStartOfHour({{ end }})) AS partial_hour_{{ loop.index }}
{%- endfor %}
{#- `event_time` is a DateTime64, see sql/README.md, *Bounds of times*. -#}
{%- macro before(time, end) -%}
{{ time }} < {{ "toDateTime64(" ~ end ~ ", 6, 'UTC')" if time == 'event_time' else end }}
{%- endmacro -%}
{%- macro in_periods(time) -%}
{{ time }} >= oldest AND {{ before(time, 'range_end') }} AND ({{ before(time, 'before_end') }} OR {{ time }} >= range_start)
{%- endmacro -%}
{%- macro in_whole_days() -%}
{{ in_periods('day') }} AND day NOT IN (partial_day_2, partial_day_3, partial_day_4)
{%- endmacro -%}
{%- macro in_whole_hours(or_also='0') -%}
{{ in_periods('hour') }} AND hour NOT IN (partial_hour_2, partial_hour_3, partial_hour_4)
            AND (
                hour >= partial_day_1 AND hour < partial_day_1 + 86400
                OR hour >= partial_day_2 AND hour < partial_day_2 + 86400
                OR hour >= partial_day_3 AND hour < partial_day_3 + 86400
                OR hour >= partial_day_4 AND hour < partial_day_4 + 86400
                OR {{ or_also }})
{%- endmacro -%}
{%- macro in_partial_hours(or_also='0') -%}
{{ in_periods('event_time') }}
            AND (
                event_time >= partial_hour_1 AND {{ before('event_time', 'partial_hour_1 + 3600') }}
                OR event_time >= partial_hour_2 AND {{ before('event_time', 'partial_hour_2 + 3600') }}
                OR event_time >= partial_hour_3 AND {{ before('event_time', 'partial_hour_3 + 3600') }}
                OR event_time >= partial_hour_4 AND {{ before('event_time', 'partial_hour_4 + 3600') }}
                OR {{ or_also }})
{%- endmacro -%}
{#- The events that are read: all of a short range, for which the template has `exact` and no rollup; without it, those of a range
    that the column `exact` calls short, else those of the hours that rollups do not have. -#}
{%- macro of_events(exact) -%}
{%- if exact -%}
{{ in_periods('event_time') }}
{%- else -%}
{{ in_partial_hours('exact') }}
{%- endif -%}
{%- endmacro -%}
