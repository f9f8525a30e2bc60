    -- The records of an entity in each log. Conditions on constants are folded, so only columns of the entity's kind are
    -- read. An address is compared as one, because logs write it in several forms (see the column client_ip).
    records AS (
        SELECT
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
            tables_read, tables_written, query_id, rule_set, NULL AS query_seconds, NULL AS sent_rows, '' AS text
        FROM tailrace.audit_events
        WHERE audit_events.event_time >= {from:DateTime64(6, 'UTC')} AND audit_events.event_time < {to:DateTime64(6, 'UTC')}
{%- include "parts/entity_where.sql" -%}
        UNION ALL
        SELECT
            query_events.event_time, event_id, cluster, instance, connection_id, source,
            if(ifNull(query_events.error_code, 0) IN (0, 1003, 1287, 1681, 1831, 3090, 3135, 3719, 3778), 'statement', 'failed'),
            false, weight, user, ip, host, '', database, 'QUERY', verb,
            if(ifNull(query_events.error_code, 0) = 0, '', toString(query_events.error_code)),
            tables_read, tables_written, toNullable(query_id), rule_set,
            toNullable(query_time), toNullable(rows_sent), ''
        FROM tailrace.query_events
        WHERE query_events.event_time >= {from:DateTime64(6, 'UTC')} AND query_events.event_time < {to:DateTime64(6, 'UTC')}
{%- include "parts/entity_where.sql" -%}
        UNION ALL
        SELECT
            error_events.event_time, event_id, cluster, instance, thread_id, source,
            if(error_events.kind = 'access_denied', 'refused', 'message'),
            false, 1., user, ip, host, '', database, error_events.kind, '',
            if(error_events.kind = 'access_denied', '1045', toString(code)), [], [], NULL, '', NULL, NULL, message
        FROM (SELECT *, [] AS tables_read, [] AS tables_written, thread_id AS connection_id FROM tailrace.error_events)
            AS error_events
        WHERE error_events.event_time >= {from:DateTime64(6, 'UTC')} AND error_events.event_time < {to:DateTime64(6, 'UTC')}
{%- include "parts/entity_where.sql" -%}
        UNION ALL
        SELECT
            data_access.event_time, event_id, cluster, instance, connection_id, source,
            if(outcome = 'failure', 'failed', 'statement'), false, 1.,
            user, src_ip, host, program, database, 'QUERY', verb, '',
            if(has(data_class_read, {name:String}), data_access.tables, []),
            if(has(data_class_written, {name:String}), data_access.tables, []),
            query_id, '', NULL, data_access.rows_sent, ''
        FROM tailrace.data_access FINAL
        WHERE {kind:String} = 'class' AND has(data_class, {name:String})
            AND data_access.event_time >= {from:DateTime64(6, 'UTC')} AND data_access.event_time < {to:DateTime64(6, 'UTC')}
            AND ({cluster:String} = '' OR cluster = {cluster:String})
            AND ({instance:String} = '' OR instance = {instance:String}))
