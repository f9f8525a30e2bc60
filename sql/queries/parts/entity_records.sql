{#- The records of an entity in each log, for a WITH. `newest` limits each log to its latest records, with `oldest` to its
    oldest ones; `record_columns` are the columns that
    the query uses, by default all: ClickHouse takes longer to analyse the others than to leave them out. -#}
{%- include "parts/entity_conditions.sql" -%}
{%- macro latest(table) -%}
    {%- if newest | default(false) %}
            AND (empty({kinds:Array(String)}) OR has({kinds:Array(String)}, event_kind))
            AND ({before_id:String} = ''
        {%- if oldest | default(false) %}
                OR ({{ table }}.event_time, place) > ({from:DateTime64(6, 'UTC')}, {before_id:String}))
        ORDER BY {{ table }}.event_time, place LIMIT {limit:UInt32}
        {%- else %}
                OR ({{ table }}.event_time, place) < ({to:DateTime64(6, 'UTC')} - INTERVAL 1 MICROSECOND, {before_id:String}))
        ORDER BY {{ table }}.event_time DESC, place DESC LIMIT {limit:UInt32}
        {%- endif %}
    {%- endif -%}
{%- endmacro %}
{#- The client of a record in one form, as in the columns client_ip and client_host: its address, or else its host name. -#}
{%- macro shown_client() -%}
if(isIPv6String(if(ip = '', host, ip)),
            replaceRegexpOne(toString(toIPv6OrDefault(if(ip = '', host, ip))), '^::ffff:([0-9.]+)$', '\\1'),
            if(ip = '', toString(host), toString(ip)))
{%- endmacro %}
{#- Where records of one time are in the list: those of one log in its order. Rows of data_access have no place in a log. -#}
{%- macro place_in_log(table) -%}
concat(hex(cityHash64(instance, source, {{ table }}.log)), ' ', leftPad(hex(generation), 16, '0'),
                leftPad(hex(entry_offset), 16, '0'), ' ', toString(event_id))
{%- endmacro %}
{#- The columns of records, with their expressions for audit_events, query_events, error_events and data_access. -#}
{%- set expressions = {
    'event_time': ['audit_events.event_time', 'query_events.event_time', 'error_events.event_time', 'data_access.event_time'],
    'event_id': ['event_id', 'event_id', 'event_id', 'event_id'],
    'place': [place_in_log('audit_events'), place_in_log('query_events'), place_in_log('error_events'), 'toString(event_id)'],
    'cluster': ['cluster', 'cluster', 'cluster', 'cluster'],
    'instance': ['instance', 'instance', 'instance', 'instance'],
    'connection_id': ['connection_id', 'connection_id', 'thread_id', 'connection_id'],
    'log': ['source', 'source', 'source', 'source'],
    'event_kind': [kind_of_audit(), kind_of_entry(),
        "if(error_events.kind = 'access_denied', 'refused', 'message')", "if(outcome = 'failure', 'failed', 'statement')"],
    'is_login': [is_login(), 'false', 'false', 'false'],
    'executions': ['1.', 'weight', '1.', '1.'],
    'user': ['user', 'user', 'user', 'user'],
    'ip': ['ip', 'ip', 'ip', 'src_ip'],
    'host': ['host', 'host', 'host', 'host'],
    'program': ['program_name', "''", "''", 'program'],
    'database': ['database', 'database', 'database', 'database'],
    'command': ['command', "'QUERY'", 'error_events.kind', "'QUERY'"],
    'verb': ['verb', 'verb', "''", 'verb'],
    'error_code': ["if(status = 0, '', toString(status))",
        "if(ifNull(query_events.error_code, 0) = 0, '', toString(query_events.error_code))",
        "if(error_events.kind = 'access_denied', '1045', toString(code))", "''"],
    'tables_read': ['tables_read', 'tables_read', '[]', 'if(has(data_class_read, {name:String}), data_access.tables, [])'],
    'tables_written': ['tables_written', 'tables_written', '[]', 'if(has(data_class_written, {name:String}), data_access.tables, [])'],
    'query_id': ['query_id', 'toNullable(query_id)', 'NULL', 'query_id'],
    'query_seconds': ['NULL', 'toNullable(query_time)', 'NULL', 'NULL'],
    'sent_rows': ['NULL', 'toNullable(rows_sent)', 'NULL', 'data_access.rows_sent'],
    'text': ["''", "''", 'message', "''"],
} -%}
{%- macro of(table) -%}
    {%- set place = ['audit_events', 'query_events', 'error_events', 'data_access'].index(table) -%}
            {%- for name in record_columns | default(expressions.keys()) %}
            {{ expressions[name][place] }}{% if expressions[name][place] != name %} AS {{ name }}{% endif %}{% if not loop.last %},{% endif %}
            {%- endfor %}
        FROM tailrace.{{ table }}
{%- endmacro %}
    records AS (
{%- if kind == 'class' %}
        SELECT {{- of('data_access') }} FINAL
        WHERE has(data_class, {name:String}) AND {{ range('data_access') }} {{ latest('data_access') }}
{%- else %}
        (SELECT {{- of('audit_events') }}
        WHERE {{ is_its() }} AND {{ range('audit_events') }} {{- in_its_granules() }} {{ latest('audit_events') }})
        UNION ALL
        (SELECT {{- of('query_events') }}
        WHERE {{ is_its() }} AND {{ range('query_events') }} {{- in_its_granules() }} {{ latest('query_events') }})
    {%- if kind != 'table' %}
        UNION ALL
        (SELECT {{- of('error_events') }}
        WHERE {{ is_its('thread_id') }} AND {{ range('error_events') }} {{ latest('error_events') }})
    {%- endif %}
{%- endif %})
