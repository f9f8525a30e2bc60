{#- The records of an entity in each log, for a WITH. `kind` chooses the entity, because ClickHouse analyses a condition for
    each kind longer than it reads the rows of a day; values are parameters. `newest` limits each log to its latest records.
    An address is compared as one: logs write it in several forms (see the column client_ip). -#}
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
{%- macro latest(table) -%}
    {%- if newest | default(false) %}
            AND (empty({kinds:Array(String)}) OR has({kinds:Array(String)}, event_kind))
            AND ({before_id:String} = ''
                OR ({{ table }}.event_time, toString(event_id)) < ({to:DateTime64(6, 'UTC')} - INTERVAL 1 MICROSECOND, {before_id:String}))
        ORDER BY {{ table }}.event_time DESC, toString(event_id) DESC LIMIT {limit:UInt32}
    {%- endif -%}
{%- endmacro %}
    records AS (
{%- if kind == 'class' %}
        SELECT
            data_access.event_time AS event_time, event_id, cluster, instance, connection_id, source AS log,
            if(outcome = 'failure', 'failed', 'statement') AS event_kind, false AS is_login, 1. AS executions,
            user, src_ip AS ip, host, program, database, 'QUERY' AS command, verb, '' AS error_code,
            if(has(data_class_read, {name:String}), data_access.tables, []) AS tables_read,
            if(has(data_class_written, {name:String}), data_access.tables, []) AS tables_written,
            query_id, NULL AS query_seconds, data_access.rows_sent AS sent_rows, '' AS text
        FROM tailrace.data_access FINAL
        WHERE has(data_class, {name:String}) AND {{ range('data_access') }} {{ latest('data_access') }}
{%- else %}
        (SELECT
            audit_events.event_time AS event_time, event_id, cluster, instance, connection_id, source AS log,
            multiIf(
                event_class = 'connection' AND status != 0
                    AND match(lower(command), '^(proxy_|failed_)?connect$|^change.?user$|^failed login$'), 'refused',
                event_class = 'connection', 'connection',
                event_class = 'table', 'table',
                event_class != 'query' OR event_name NOT IN ('', 'status'), 'other',
                status != 0, 'failed', 'statement') AS event_kind,
            event_class = 'connection' AND status = 0 AND lower(command) = 'connect' AND event_name IN ('', 'connect') AS is_login,
            1. AS executions,
            user, ip, host, program_name AS program, database, command, verb,
            if(status = 0, '', toString(status)) AS error_code,
            tables_read, tables_written, query_id, NULL AS query_seconds, NULL AS sent_rows, '' AS text
        FROM tailrace.audit_events
        WHERE {{ is_its() }} AND {{ range('audit_events') }} {{ latest('audit_events') }})
        UNION ALL
        (SELECT
            query_events.event_time, event_id, cluster, instance, connection_id, source,
            if(ifNull(query_events.error_code, 0) IN (0, 1003, 1287, 1681, 1831, 3090, 3135, 3719, 3778), 'statement', 'failed') AS event_kind,
            false, weight, user, ip, host, '', database, 'QUERY', verb,
            if(ifNull(query_events.error_code, 0) = 0, '', toString(query_events.error_code)),
            tables_read, tables_written, toNullable(query_id), toNullable(query_time), toNullable(rows_sent), ''
        FROM tailrace.query_events
        WHERE {{ is_its() }} AND {{ range('query_events') }} {{ latest('query_events') }})
    {%- if kind != 'table' %}
        UNION ALL
        (SELECT
            error_events.event_time, event_id, cluster, instance, thread_id, source,
            if(error_events.kind = 'access_denied', 'refused', 'message') AS event_kind,
            false, 1., user, ip, host, '', database, error_events.kind, '',
            if(error_events.kind = 'access_denied', '1045', toString(code)), [], [], NULL, NULL, NULL, message
        FROM tailrace.error_events
        WHERE {{ is_its('thread_id') }} AND {{ range('error_events') }} {{ latest('error_events') }})
    {%- endif %}
{%- endif %})
