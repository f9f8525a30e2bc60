{%- include "parts/api_events.sql" -%}
-- Records of audit and general logs for the API, the newest first. Statements are masked.
-- Parameters: as of api_events_statements.sql, and event_class, failed ('yes': only with an error), program; without min_seconds.
SELECT
    toString(event_id) AS id, event_time, cluster, instance, source, log, generation, entry_offset,
    connection_id, event_class, command, event_name, status, user, priv_user, proxy_user, os_user,
    client_host AS host, client_ip AS ip, program_name AS program, database, object, query_id, verb, tables_read, tables_written, flags
FROM tailrace.audit_events
WHERE {{ chosen('audit_events') }}
    AND {{ is_from_client() }}
    AND ({query_id:UInt64} = 0 OR query_id = {query_id:UInt64})
    AND ({verb:String} = '' OR verb = {verb:String})
    AND ({table:String} = '' OR has(tables_read, {table:String}) OR has(tables_written, {table:String}))
    AND ({event_class:String} = '' OR event_class = {event_class:String})
    AND ({program:String} = '' OR program_name = {program:String})
    AND ({failed:String} = '' OR has_failed)
    AND {{ after('audit_events') }}
{{ newest_first('audit_events') }}
