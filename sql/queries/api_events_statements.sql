{%- include "parts/api_events.sql" -%}
-- Entries of the slow logs for the API, the newest first. Statements are masked.
-- Parameters: from, to, cluster, instance, user, client, database, query_id (0: any), table, verb, min_seconds; the place of the last
-- row of the page before (before, before_id, before_log, before_generation, before_offset; before_id is empty at the beginning); limit.
SELECT
    toString(event_id) AS id, event_time, cluster, instance, source, log, generation, entry_offset,
    connection_id, user, client_host AS host, client_ip AS ip, database,
    query_id, verb, query_time, lock_time, rows_sent, rows_examined, rows_affected, bytes_sent,
    error_code, weight, plan_hash, tables_read, tables_written, tags, flags
FROM tailrace.query_events
WHERE {{ chosen('query_events') }}
    AND {{ is_from_client() }}
    AND ({query_id:UInt64} = 0 OR query_id = {query_id:UInt64})
    AND ({verb:String} = '' OR verb = {verb:String})
    AND ({table:String} = '' OR has(tables_read, {table:String}) OR has(tables_written, {table:String}))
    AND query_time >= {min_seconds:Float64}
    AND {{ after('query_events') }}
{{ newest_first('query_events') }}
