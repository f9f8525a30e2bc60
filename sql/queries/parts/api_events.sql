{#- The range, the common filters and the place in the list of a request for events. `columns` is the table whose columns are used.
    The place is the last row of the page before. event_id is the same for equal records at the beginning of two files of a log. -#}
{%- macro chosen(table) -%}
{{ table }}.event_time >= {from:DateTime64(6, 'UTC')} AND {{ table }}.event_time < {to:DateTime64(6, 'UTC')}
    AND ({cluster:String} = '' OR cluster = {cluster:String})
    AND ({instance:String} = '' OR instance = {instance:String})
    AND ({user:String} = '' OR user = {user:String})
    AND ({database:String} = '' OR database = {database:String})
{%- endmacro -%}
{#- `client` is the address, in any form, or the host name (see the columns client_ip and client_host). -#}
{%- macro is_from_client(ip='client_ip', host='client_host') -%}
({client:String} = '' OR {client:String} IN ({{ ip }}, {{ host }})
        OR toIPv6OrDefault({client:String}) != toIPv6('::') AND toIPv6OrDefault({{ ip }}) = toIPv6OrDefault({client:String}))
{%- endmacro -%}
{%- macro after(table) -%}
({before_id:String} = '' OR
        ({{ table }}.event_time, event_id, log, generation, entry_offset)
            < ({before:DateTime64(6, 'UTC')}, toUUIDOrZero({before_id:String}), {before_log:String}, {before_generation:UInt64}, {before_offset:UInt64}))
{%- endmacro -%}
{%- macro newest_first(table) -%}
ORDER BY {{ table }}.event_time DESC, event_id DESC, log DESC, generation DESC, entry_offset DESC
LIMIT {limit:UInt32}
{%- endmacro %}
