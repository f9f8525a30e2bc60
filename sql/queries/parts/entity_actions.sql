{#- The accesses between `from` and `to`, with one action_id for each action (data_access_by_action). Without `matches`, the view
    has nothing to match (page_entity_unmatched.sql): the records are read without it, except the program of the login. -#}
{%- include "parts/entity_conditions.sql" -%}
{%- macro actions() -%}
    {%- if matches | default(true) -%}
tailrace.data_access_by_action(begin = {from:DateTime64(6, 'UTC')}, until = {to:DateTime64(6, 'UTC')})
    {%- else -%}
(SELECT * FROM tailrace.data_access FINAL
        WHERE data_access.event_time >= {from:DateTime64(6, 'UTC')} AND data_access.event_time < {to:DateTime64(6, 'UTC')})
    {%- endif -%}
{%- endmacro -%}
{#- Whether a record of data_access is one of the entity. -#}
{%- macro touched_by_it() -%}
    {%- if kind == 'user' %}user = {name:String}
    {%- elif kind == 'client' %}if(src_ip = '', host, src_ip) = {{ its_name() }}
    {%- elif kind == 'table' %}(has(tables, {name:String})
            OR position({name:String}, '.') = 0 AND arrayExists(each -> endsWith(each, concat('.', {name:String})), tables))
    {%- elif kind == 'class' %}has(data_class, {name:String})
    {%- else %}connection_id = {connection:UInt64}
    {%- endif -%}
{%- endmacro -%}
