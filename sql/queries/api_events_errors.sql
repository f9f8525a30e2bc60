{%- include "parts/api_events.sql" -%}
-- Messages of error logs for the API, the newest first. Literals of statements in them are masked.
-- Parameters: the common ones of api_events_statements.sql, client, level and kind.
SELECT
    toString(event_id) AS id, event_time, cluster, instance, source, log, generation, entry_offset,
    level, subsystem, code, kind, message, thread_id, user, client_host AS host, client_ip AS ip, database, flags
FROM tailrace.error_events
WHERE {{ chosen('error_events') }}
    AND {{ is_from_client() }}
    AND ({level:String} = '' OR level = {level:String})
    AND ({kind:String} = '' OR kind = {kind:String})
    AND {{ after('error_events') }}
{{ newest_first('error_events') }}
