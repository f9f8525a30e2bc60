{%- set newest = true -%}
WITH
{%- include "parts/entity_records.sql" -%}
-- Records of an entity across logs, the newest first or with `oldest` the oldest, at most `limit`. Parameters: those of page_entity_timeline without
-- begin and width; kinds (empty: all); before_id.
--
-- The next page begins at the last row of this one: `to` is its time plus a microsecond, or `from` is its time if the oldest are
-- first; `before_id` is its place.
SELECT
    records.event_time AS event_time, toString(event_id) AS id, place, cluster, instance, connection_id, log, event_kind, user,
    {{ shown_client() }} AS client,
    program, database, command, verb, error_code,
    arrayMap(each -> toString(each), arrayDistinct(arrayConcat(tables_read, tables_written))) AS table_names,
    if(query_id IS NULL, '', leftPad(hex(assumeNotNull(query_id)), 16, '0')) AS query,
    query_seconds, sent_rows, text
FROM records
ORDER BY {{ 'event_time, place' if oldest | default(false) else 'event_time DESC, place DESC' }}
LIMIT {limit:UInt32}
