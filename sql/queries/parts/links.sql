{#- Links to other dashboards, as HTML for Superset's tables, with the same time range or a range around the row, filtered by
    values of the row. Filters are encoded in Rison, as in alerts/link.py. `tab` is the anchor of a tab of that dashboard. -#}
{%- macro link(dashboard, filter, column, value, text, tab='') -%}
    {{ link_by(dashboard, [(filter, column, value)], text, tab) }}
{%- endmacro -%}
{#- With several filters, as (filter, column, value) tuples. -#}
{%- macro link_by(dashboard, filters, text, tab='') -%}
    {{ link_within(dashboard, literal(get_time_filter().time_range), filters, text, tab) }}
{%- endmacro -%}
{#- From `seconds` before a time to `seconds` after it. The time range of the dashboard is too wide, because connection ids
    start again when a server restarts. -#}
{%- macro link_around(dashboard, time, seconds, filters, text, tab='') -%}
    {{ link_within(dashboard, "concat(" ~ iso(time ~ " - " ~ seconds) ~ ", ' : ', " ~ iso(time ~ " + " ~ seconds) ~ ")",
        filters, text, tab) }}
{%- endmacro -%}
{#- `carried` are filters of this dashboard to keep, as (filter, column) tuples. -#}
{%- macro link_within(dashboard, time_range, filters, text, tab='', carried=[]) -%}
    concat('<a href="/superset/dashboard/{{ dashboard }}/?native_filters=', encodeURLComponent(concat(
        '(NATIVE_FILTER-time-range:(extraFormData:(time_range:', {{ rison(time_range) }},
        '),filterState:(value:', {{ rison(time_range) }}, '),id:NATIVE_FILTER-time-range,ownState:())',
        {%- for filter, column, value in filters %}
        ',NATIVE_FILTER-{{ filter }}:(extraFormData:(filters:!((col:{{ column }},op:IN,val:!(', {{ rison(value) }},
        ')))),filterState:(label:', {{ rison(value) }}, ',value:!(', {{ rison(value) }}, ')),id:NATIVE_FILTER-{{ filter }},ownState:())',
        {%- endfor %}
        {%- for filter, column in carried if filter_values(column) %}
        {%- set chosen = "arrayStringConcat(arrayMap(each -> " ~ rison("each") ~ ", array" ~ filter_values(column) | where_in ~ "), ',')" %}
        ',NATIVE_FILTER-{{ filter }}:(extraFormData:(filters:!((col:{{ column }},op:IN,val:!(', {{ chosen }},
        ')))),filterState:(label:', {{ rison("arrayStringConcat(array" ~ filter_values(column) | where_in ~ ", ', ')") }}, ',value:!(', {{ chosen }},
        ')),id:NATIVE_FILTER-{{ filter }},ownState:())',
        {%- endfor %}
        ')')), '{{ '#' ~ tab if tab }}">', {{ text }}, '</a>')
{%- endmacro -%}
{%- macro rison(text) -%}
    concat('''', replaceAll(replaceAll({{ text }}, '!', '!!'), '''', '!'''), '''')
{%- endmacro -%}
{%- macro literal(text) -%} array{{ [text] | where_in }}[1] {%- endmacro -%}
{%- macro iso(time) -%} formatDateTime({{ time }}, '%Y-%m-%dT%H:%i:%S') {%- endmacro -%}
{%- macro link_to_query(value, text) -%} {{ link('query-detail', 'query-id', 'query_id', value, text) }} {%- endmacro -%}
{#- The work page of a statement, in the same time range; `part` is the rest of its path. -#}
{%- macro page_of_statement(value, text, part='') -%}
    concat('<a href="/tailrace/queries/', {{ value }}, '/{{ part }}{% if from_dttm and to_dttm %}?from={{ from_dttm[:19] }}Z&amp;to={{ to_dttm[:19] }}Z{% endif %}">',
        {{ text }}, '</a>')
{%- endmacro -%}
{#- The statements of a table on the work page Queries, in the same time range. -#}
{%- macro page_of_table(name, text) -%}
    concat('<a href="/tailrace/queries/?q=', encodeURLComponent({{ name }}),
        '{% if from_dttm and to_dttm %}&amp;from={{ from_dttm[:19] }}Z&amp;to={{ to_dttm[:19] }}Z{% endif %}">', {{ text }}, '</a>')
{%- endmacro -%}
{%- macro link_to_plan(value, text) -%} {{ link('plans', 'plan', 'plan_hash', value, text) }} {%- endmacro -%}
{%- macro link_to_trace(value, text) -%} {{ link('traces', 'trace-id', 'trace_id', value, text, tab='TAB-traces-one-trace') }} {%- endmacro -%}
{#- The activity of one connection, one hour before and after a time. Takes the name of the server and the connection id as text. -#}
{%- macro link_to_session(time, instance, connection_id, text) -%}
    {{ link_around('session', time, 3600,
        [('instance', 'instance', instance), ('connection_id', 'connection_id', connection_id)], text) }}
{%- endmacro -%}
{#- The accesses of one account on one server. -#}
{%- macro link_to_access(instance, user, text) -%}
    {{ link_by('data-access', [('instance', 'instance', instance), ('user', 'user', user)], text) }}
{%- endmacro -%}
