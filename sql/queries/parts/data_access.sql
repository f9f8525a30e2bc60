{#- The data classes of a record of tailrace.data_access as (class, how) tuples. Unknown access is a separate class, never
    none. Filters on both are applied here, so that the first remaining tuple can carry the rows sent. -#}
{%- macro touches() -%}
    arrayFilter(touch -> true
        {%- if filter_values('data_class') %} AND touch.1 IN {{ filter_values('data_class') | where_in }}{% endif -%}
        {%- if filter_values('access') %} AND touch.2 IN {{ filter_values('access') | where_in }}{% endif -%},
        arrayConcat(
            arrayMap(class -> (toString(class), 'read'), data_class_read),
            arrayMap(class -> (toString(class), 'changed'), data_class_written),
            if(has(data_access.basis, 'unknown'), [('(unknown)', 'may have touched')], [])))
{%- endmacro -%}
{#- Client, program and action number; an action in several logs has one number. -#}
{%- macro whose() -%}
    cluster, instance,
    if(data_access.user = '', '(none)', data_access.user) AS user,
    data_access.src_ip AS src_ip,
    coalesce(nullIf(data_access.src_ip, ''), nullIf(data_access.host, ''), '(unknown)') AS origin,
    if(data_access.program = '', '(unknown)', data_access.program) AS program,
    if(data_access.database = '', '(none)', data_access.database) AS database,
    cityHash64(instance, action_id) AS action
{%- endmacro -%}
{%- macro how_known() -%}
    arrayStringConcat(arraySort(arrayMap(basis -> transform(toString(basis), ['log', 'statement', 'resolved', 'unknown'],
        ['named by the log', 'read from the statement', 'by a view or routine', 'unknown'], toString(basis)),
        data_access.basis)), ', ')
{%- endmacro -%}
