{%- include "parts/links.sql" -%}
{%- include "parts/unknown_values.sql" -%}
{#- Numbers that are links to the page that explains them, as text, with the chosen clusters and servers. For metrics in a row of
    numbers. An unknown number is N/A. -#}
{%- macro linked_text(dashboard, text, tab='') -%}
    {{ link_within(dashboard, literal(get_time_filter().time_range), [], "ifNull(" ~ text ~ ", 'N/A')", tab,
        [('cluster', 'cluster'), ('instance', 'instance')]) }}
{%- endmacro -%}
{%- macro linked_number(dashboard, number, tab='') -%} {{ linked_text(dashboard, grouped(number), tab) }} {%- endmacro -%}
{%- macro three_digits(number) -%}
    toString(multiIf({{ number }} < 10, round({{ number }}, 2), {{ number }} < 100, round({{ number }}, 1), round({{ number }})))
{%- endmacro -%}
{#- Seconds as text with three digits and a unit, as other numbers show them: 83.4µs, 125ms, 7.25s. -#}
{%- macro readable_seconds(seconds) -%}
    multiIf({{ seconds }} < 0.001, concat({{ three_digits("1e6 * " ~ seconds) }}, 'µs'),
        {{ seconds }} < 1, concat({{ three_digits("1e3 * " ~ seconds) }}, 'ms'),
        concat({{ three_digits(seconds) }}, 's'))
{%- endmacro -%}
{#- The same, to a work page: `address` ends with its filters, and the time range is added. -#}
{%- macro linked_to_page(address, number) -%}
    concat('<a href="{{ address }}{% if from_dttm and to_dttm %}&amp;from={{ from_dttm[:19] }}Z&amp;to={{ to_dttm[:19] }}Z{% endif %}">',
        ifNull({{ grouped(number) }}, 'N/A'), '</a>')
{%- endmacro -%}
