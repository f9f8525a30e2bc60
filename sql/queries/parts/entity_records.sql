{#- The records of an entity in each log, for a WITH. `newest` limits each log to its latest records. -#}
{%- include "parts/entity_conditions.sql" -%}
{%- macro latest(table) -%}
    {%- if newest | default(false) %}
            AND (empty({kinds:Array(String)}) OR has({kinds:Array(String)}, event_kind))
            AND ({before_id:String} = ''
                OR ({{ table }}.event_time, toString(event_id)) < ({to:DateTime64(6, 'UTC')} - INTERVAL 1 MICROSECOND, {before_id:String}))
        ORDER BY {{ table }}.event_time DESC, toString(event_id) DESC LIMIT {limit:UInt32}
    {%- endif -%}
{%- endmacro %}
{#- The client of a record in one form, as in the columns client_ip and client_host: its address, or else its host name. -#}
{%- macro shown_client() -%}
if(isIPv6String(if(ip = '', host, ip)),
            replaceRegexpOne(toString(toIPv6OrDefault(if(ip = '', host, ip))), '^::ffff:([0-9.]+)$', '\\1'),
            if(ip = '', toString(host), toString(ip)))
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
            {{ kind_of_audit() }} AS event_kind,
            {{ is_login() }} AS is_login,
            1. AS executions,
            user, ip, host, program_name AS program, database, command, verb,
            if(status = 0, '', toString(status)) AS error_code,
            tables_read, tables_written, query_id, NULL AS query_seconds, NULL AS sent_rows, '' AS text
        FROM tailrace.audit_events
        WHERE {{ is_its() }} AND {{ range('audit_events') }} {{ latest('audit_events') }})
        UNION ALL
        (SELECT
            query_events.event_time, event_id, cluster, instance, connection_id, source,
            {{ kind_of_entry() }} AS event_kind,
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
