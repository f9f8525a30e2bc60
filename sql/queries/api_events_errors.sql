{%- include "parts/api_events.sql" -%}
-- Messages of error logs for the API, the newest first. Literals of statements in them are masked.
-- Parameters: the common ones of api_events_statements.sql, client, level and kind.
SELECT
    toString(event_id) AS id, event_time, cluster, instance, source, log, generation, entry_offset,
    level, subsystem, code, kind, message, thread_id, user, host, ip, database, flags
FROM tailrace.error_events
WHERE {{ chosen('error_events') }}
    AND ({client:String} = '' OR {client:String} IN (ip, host))
    AND ({level:String} = '' OR level = {level:String})
    AND ({kind:String} = '' OR kind = {kind:String})
    AND {{ after('error_events') }}
{{ newest_first('error_events') }}
