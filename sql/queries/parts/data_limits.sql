{%- include "parts/number_links.sql" -%}
{#- One line about the limits of the data of a dashboard, as a link to the details. For metrics of data_limits.sql. -#}
{%- macro minutes_of(state, sources) -%} sumIf(minutes, minute_state = '{{ state }}' AND source IN {{ sources | where_in }}) {%- endmacro -%}
{%- macro some_minutes(state, sources, text) -%}
    if({{ minutes_of(state, sources) }} = 0, '', concat(' · ', {{ grouped(minutes_of(state, sources)) }},
        if({{ minutes_of(state, sources) }} = 1, ' minute ', ' minutes '), '{{ text }}'))
{%- endmacro -%}
{#- Servers with a listed log of these kinds that never arrived. Others of their logs may arrive. -#}
{%- macro never_text(sources) -%}
    {%- set never = "uniqExactIf(instance, minute_state = 'never' AND source IN " ~ sources | where_in ~ ")" -%}
    if({{ never }} = 0, '', concat(' · ', toString({{ never }}), if({{ never }} = 1, ' server', ' servers'),
        ' with a listed log that never arrived'))
{%- endmacro -%}
{#- Minutes before the first census of a log are unknown, too. The time of that census is stated, because it is their reason. -#}
{%- macro minutes_text(sources) -%}
    {%- set all = "sumIf(minutes, minute_state != 'logged' AND source IN " ~ sources | where_in ~ ")" -%}
    {%- set unknown = "sumIf(minutes, minute_state IN ('before', 'unknown', 'never') AND source IN " ~ sources | where_in ~ ")" -%}
    concat(
        if({{ unknown }} = {{ all }}, ' · coverage unknown', ''),
        if({{ all }} > 0 AND {{ minutes_of('covered', sources) }} = {{ all }}, ' · no minute missing', ''),
        {{ some_minutes('missing', sources, 'missing') }},
        {{ some_minutes('behind', sources, 'not read yet') }},
        if({{ unknown }} IN (0, {{ all }}), '', concat(' · coverage of ',
            toString(least(99.9, greatest(0.1, round(100 * {{ unknown }} / {{ all }}, 1)))), ' % of the minutes unknown')),
        if({{ minutes_of('before', sources) }} = 0, '', concat(' · no census before ', formatDateTime(
            maxIf(first_census, minute_state = 'before' AND source IN {{ sources | where_in }}), '%Y-%m-%d %H:%i UTC', 'UTC'))),
        {{ never_text(sources) }})
{%- endmacro -%}
{%- macro limits_of_slow_logs() -%}
    {%- set all, known = "uniqExactIf(instance, minute_state = 'logged')", "uniqExactIf(instance, minute_state = 'logged' AND logged != 'unknown')" -%}
    {%- set settings -%}
    multiIf(
        {{ all }} = 0, 'no slow query logged',
        {{ known }} = 0, concat('slow log threshold unknown on ', toString({{ all }}), if({{ all }} = 1, ' server', ' servers'), ' (no snapshot)'),
        concat('slow log ', arrayStringConcat(arraySort(groupUniqArrayIf(logged, minute_state = 'logged' AND logged != 'unknown')), ', '),
            ' on ', toString({{ known }}), ' of ', toString({{ all }}), if({{ all }} = 1, ' server', ' servers'),
            if({{ known }} = {{ all }}, '', concat(' (unknown on ', toString({{ all }} - {{ known }}), ': no snapshot)'))))
    {%- endset -%}
    {{ linked_text('slow-queries', "concat(" ~ settings ~ ", " ~ minutes_text(['slowlog']) ~ ")", 'TAB-slow-queries-data-limits') }}
{%- endmacro -%}
{#- `name` of the logs of the kinds `sources`: on how many of the servers that are watched or listed. -#}
{%- macro limits_of_logs(name, sources, dashboard) -%}
    {%- set with_log = "uniqExactIf(instance, minute_state != 'never' AND source IN " ~ sources | where_in ~ ")" -%}
    {%- set unknown = "concat('coverage of " ~ name ~ " unknown (no census in the time range)', " ~ never_text(sources) ~ ")" -%}
    {{ linked_text(dashboard, "if(" ~ with_log ~ " = 0, " ~ unknown ~ ", concat('" ~ name ~ " of ', toString(" ~ with_log
        ~ "), ' of ', toString(uniqExact(instance)), if(uniqExact(instance) = 1, ' server', ' servers'), " ~ minutes_text(sources) ~ "))") }}
{%- endmacro -%}
