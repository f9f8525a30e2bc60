{%- include "parts/first_of_many.sql" -%}
{%- include "parts/number_texts.sql" -%}
{%- include "parts/utc.sql" -%}
{#- Numbers that show how much is known, so that unknown is not shown as 0. For metrics in a row of numbers. -#}
{#- A number as text, and below it (style.css) the number of `things` for which it is known. -#}
{%- macro with_unknown_count(number, known, all, things, nothing) -%}
    multiIf(
        {{ all }} = 0, 'unknown<em>{{ nothing }}</em>',
        {{ known }} = 0, concat('unknown<em>none of ', {{ grouped(all) }}, ' {{ things }} is known</em>'),
        {{ known }} = {{ all }}, concat({{ grouped(number) }}, '<em>of ', {{ grouped(all) }}, ' {{ things }}</em>'),
        concat({{ grouped(number) }}, '<em>of ', {{ grouped(known) }}, ' known, ',
            {{ grouped(all ~ ' - ' ~ known) }}, ' unknown</em>'))
{%- endmacro -%}
{#- A number of events; NULL instead of 0 if no table contains an event in the time range, because the number is then unknown.
    `condition` selects the events that would contain it, `at` is their time column (none: any time), `filters` are the
    filters of the dashboard. -#}
{%- macro or_not_available(number, tables, condition='true', at='event_time', filters=['cluster', 'instance']) -%}
    if({{ number }} = 0{% for table in tables %} AND (
            SELECT count() FROM (SELECT 1 FROM tailrace.{{ table }} WHERE {{ condition }}
            {%- if at and from_dttm %} AND {{ at }} >= {{ utc(from_dttm) }}{% endif %}
            {%- if at and to_dttm %} AND {{ at }} < toDateTime64({{ utc(to_dttm) }}, 6, 'UTC'){% endif %}
            {%- for column in filters if filter_values(column) %} AND {{ column }} IN {{ filter_values(column) | where_in }}{% endfor %}
            LIMIT 1)) = 0{% endfor %}, NULL, {{ number }})
{%- endmacro -%}
{#- A number as text, and below it the number of servers for which it is known: those with an event that fulfils `condition`, of all
    with an event in the table; and the names of up to three others. The time column is event_time, the filters are cluster and
    instance. Names come from logs: the text is HTML. -#}
{%- macro with_unknown_servers(number, table, condition) -%}
    {%- set servers -%}
        (SELECT tuple(
            uniqExactIf((cluster, instance), {{ condition }}), uniqExact(cluster, instance),
            arraySort(arrayMap(each -> encodeXMLComponent(toString(each.2)), arrayFilter(
                each -> NOT has(groupUniqArrayIf((cluster, instance), {{ condition }}), each), groupUniqArray((cluster, instance))))))
        FROM tailrace.{{ table }} WHERE true
            {%- if from_dttm %} AND event_time >= {{ utc(from_dttm) }}{% endif %}
            {%- if to_dttm %} AND event_time < toDateTime64({{ utc(to_dttm) }}, 6, 'UTC'){% endif %}
            {%- for column in ['cluster', 'instance'] if filter_values(column) %} AND {{ column }} IN {{ filter_values(column) | where_in }}{% endfor %})
    {%- endset -%}
    concat(if({{ number }} = 0 AND {{ servers }}.1 = 0, 'unknown', {{ grouped(number) }}),
        '<em>known on ', toString({{ servers }}.1), ' of ', toString({{ servers }}.2), if({{ servers }}.2 = 1, ' server', ' servers'),
        if(empty({{ servers }}.3), '', concat(', unknown on ', {{ first_three(servers ~ '.3') }})), '</em>')
{%- endmacro -%}
