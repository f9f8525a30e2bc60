{#- Conditions and kinds of the records of an entity. `kind` chooses the entity, because ClickHouse analyses a condition for
    each kind longer than it reads the rows of a day; values are parameters. An address is compared as one: logs write it in
    several forms (see the column client_ip). -#}
{%- set kind = kind | default('user') -%}
{%- macro range(table) -%}
{{ table }}.event_time >= {from:DateTime64(6, 'UTC')} AND {{ table }}.event_time < {to:DateTime64(6, 'UTC')}
            AND ({cluster:String} = '' OR cluster = {cluster:String}) AND ({instance:String} = '' OR instance = {instance:String})
{%- endmacro -%}
{%- macro is_its(connection='connection_id') -%}
    {%- if kind == 'user' %}user = {name:String}
    {%- elif kind == 'session' %}{{ connection }} = {connection:UInt64}
    {%- elif kind == 'table' %}(has(tables_read, {name:String}) OR has(tables_written, {name:String}))
    {%- else %}(
                ip = {name:String} OR ip = '' AND host = {name:String}
                OR toIPv6OrDefault({name:String}) != toIPv6('::')
                    AND (toIPv6OrDefault(ip) = toIPv6OrDefault({name:String})
                        OR ip = '' AND toIPv6OrDefault(host) = toIPv6OrDefault({name:String})))
    {%- endif -%}
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
