{%- include "parts/links.sql" -%}
{%- include "parts/unknown_values.sql" -%}
{#- Numbers that are links to the page that explains them, as text, with the chosen clusters and servers. For metrics in a row of
    numbers. An unknown number is N/A. -#}
{%- macro linked_text(dashboard, text, tab='') -%}
    {{ link_within(dashboard, literal(get_time_filter().time_range), [], "ifNull(" ~ text ~ ", 'N/A')", tab,
        [('cluster', 'cluster'), ('instance', 'instance')]) }}
{%- endmacro -%}
{%- macro linked_number(dashboard, number, tab='') -%} {{ linked_text(dashboard, grouped(number), tab) }} {%- endmacro -%}
{#- The same, to a work page: `address` ends with its filters; the time range and the chosen clusters and servers are added. -#}
{%- macro linked_to_page(address, number) -%}
    concat('<a href="{{ address }}&amp;from={{ (from_dttm or '2000-01-01T00:00:00')[:19] }}Z
        {%- if to_dttm %}&amp;to={{ to_dttm[:19] }}Z{% endif %}
        {%- for column in ['cluster', 'instance'] if filter_values(column) -%}
            &amp;{{ column }}={{ filter_values(column) | join(',') | urlencode }}
        {%- endfor %}">',
        ifNull({{ grouped(number) }}, 'N/A'), '</a>')
{%- endmacro -%}
