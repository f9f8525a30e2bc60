{%- include "parts/api_events.sql" -%}
-- Accesses to classified data for the API, the newest first: one row per event that touched a data class.
-- Parameters: the common ones of api_events_statements.sql without the places log, generation and offset; client, class, outcome.
SELECT
    toString(event_id) AS id, event_time, cluster, instance, source, connection_id, user, host, src_ip AS ip, program, database,
    tables, data_class, data_class_read, data_class_written, verb, query_id, rows_sent, outcome
FROM tailrace.data_access FINAL
WHERE {{ chosen('data_access') }}
    AND {{ is_from_client('src_ip', 'host') }}
    AND ({class:String} = '' OR has(data_class, {class:String}))
    AND ({outcome:String} = '' OR outcome = {outcome:String})
    AND ({before_id:String} = '' OR (data_access.event_time, event_id, instance)
        < ({before:DateTime64(6, 'UTC')}, toUUIDOrZero({before_id:String}), {before_instance:String}))
ORDER BY data_access.event_time DESC, event_id DESC, instance DESC
LIMIT {limit:UInt32}
