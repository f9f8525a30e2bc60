{#- Conditions and kinds of the records of an entity. `kind` chooses the entity, because ClickHouse analyses a condition for
    each kind longer than it reads the rows of a day; values are parameters. An address is compared as one: logs write it in
    several forms. The condition of a client is the expression of the index searched_client of each table of events. -#}
{%- set kind = kind | default('user') -%}
{%- macro range(table) -%}
{{ table }}.event_time >= {from:DateTime64(6, 'UTC')} AND {{ table }}.event_time < {to:DateTime64(6, 'UTC')}
            AND ({cluster:String} = '' OR cluster = {cluster:String}) AND ({instance:String} = '' OR instance = {instance:String})
{%- endmacro -%}
{#- The name of an entity in entities_1d, which has an address in one form. -#}
{%- macro its_name() -%}
    {%- if kind == 'client' -%}
if(toIPv6OrDefault({name:String}) = toIPv6('::'), {name:String},
                    replaceRegexpOne(toString(toIPv6OrDefault({name:String})), '^::ffff:([0-9.]+)$', '\\1'))
    {%- else -%}
{name:String}
    {%- endif -%}
{%- endmacro -%}
{%- macro is_its(connection='connection_id') -%}
    {%- if kind == 'user' %}user = {name:String}
    {%- elif kind == 'session' %}{{ connection }} = {connection:UInt64}
    {%- elif kind == 'table' %}(has(tables_read, {name:String}) OR has(tables_written, {name:String}))
    {%- else %}if(
                isIPv6String(if(ip = '', host, ip)),
                replaceRegexpOne(toString(toIPv6OrDefault(if(ip = '', host, ip))), '^::ffff:([0-9.]+)$', '\\1'),
                if(ip = '', host, ip)) = {{ its_name() }}
    {%- endif -%}
{%- endmacro -%}
{#- The expression of the index searched_tables of audit_events and query_events, for a table: ClickHouse skips the granules without it.
    Nothing is computed for a row. -#}
{%- macro in_its_granules() -%}
    {%- if kind == 'table' %}
            AND indexHint(has(
                arrayMap(name -> (splitByChar('.', name)[-1]), arrayDistinct(arrayConcat(tables_read, tables_written))),
                splitByChar('.', {name:String})[-1]))
    {%- endif -%}
{%- endmacro -%}
{#- Kinds of records by the columns login_kind and has_failed of audit_events, query_events and entities_1d. -#}
{%- macro kind_of_audit() -%}
multiIf(
                login_kind != '' AND has_failed, 'refused',
                event_class = 'connection', 'connection',
                event_class = 'table', 'table',
                event_class != 'query' OR event_name NOT IN ('', 'status'), 'other',
                has_failed, 'failed', 'statement')
{%- endmacro -%}
{%- macro is_login() -%}
login_kind = 'connect' AND NOT has_failed
{%- endmacro -%}
{%- macro kind_of_entry() -%}
if(has_failed, 'failed', 'statement')
{%- endmacro -%}
