{%- include "parts/utc.sql" -%}
{#- Numbers that say how much is known: 0 is not what nobody can tell. For metrics that are shown as a row of numbers. -#}
{%- macro grouped(number) -%}
    trim(LEADING ',' FROM reverse(replaceRegexpAll(reverse(toString({{ number }})), '\\d{3}', '\\0,')))
{%- endmacro -%}
{#- A number as a text, and below it (style.css) of how many `things` it is known. -#}
{%- macro of_known(number, known, all, things, nothing) -%}
    multiIf(
        {{ all }} = 0, 'unknown<em>{{ nothing }}</em>',
        {{ known }} = 0, concat('unknown<em>none of ', {{ grouped(all) }}, ' {{ things }} is known</em>'),
        {{ known }} = {{ all }}, concat({{ grouped(number) }}, '<em>of ', {{ grouped(all) }}, ' {{ things }}</em>'),
        concat({{ grouped(number) }}, '<em>of ', {{ grouped(known) }}, ' known, ',
            {{ grouped(all ~ ' - ' ~ known) }}, ' unknown</em>'))
{%- endmacro -%}
{#- A number of events; NULL instead of 0 where none of the tables has an event in the time that is shown: without a log that
    tells, nobody knows. `condition` says which events tell, `at` is their time (none: any time), `filters`
    are of the dashboard. -#}
{%- macro if_told(number, tables, condition='true', at='event_time', filters=['cluster', 'instance']) -%}
    if({{ number }} = 0{% for table in tables %} AND (
            SELECT count() FROM (SELECT 1 FROM tailrace.{{ table }} WHERE {{ condition }}
            {%- if at and from_dttm %} AND {{ at }} >= {{ utc(from_dttm) }}{% endif %}
            {%- if at and to_dttm %} AND {{ at }} < {{ utc(to_dttm) }}{% endif %}
            {%- for column in filters if filter_values(column) %} AND {{ column }} IN {{ filter_values(column) | where_in }}{% endfor %}
            LIMIT 1)) = 0{% endfor %}, NULL, {{ number }})
{%- endmacro -%}
