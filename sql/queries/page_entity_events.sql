WITH
{%- include "parts/entity_records.sql" -%}
    ,
    wanted AS (
        SELECT * FROM records
        WHERE (empty({kinds:Array(String)}) OR has({kinds:Array(String)}, event_kind))
            AND ({before_id:String} = '' OR (records.event_time, toString(event_id)) < ({to:DateTime64(6, 'UTC')} - INTERVAL 1 MICROSECOND, {before_id:String}))),
    (
        SELECT min(found.event_time)
        FROM (
            SELECT wanted.event_time AS event_time FROM wanted
            ORDER BY wanted.event_time DESC, toString(event_id) DESC LIMIT {limit:UInt32}) AS found
    ) AS lowest
-- Records of an entity across logs, the newest first, at most `limit`. Parameters: those of page_entity_timeline without
-- begin and width; kinds (empty: all); before_id.
--
-- The next page begins at the last row of this one: `to` is its time plus a microsecond, `before_id` its id. Only times
-- and ids of older records are read to find the page, and the other columns of the page alone.
SELECT
    wanted.event_time AS event_time, toString(event_id) AS id, cluster, instance, connection_id, log, event_kind,
    user,
    if(isIPv6String(if(ip = '', host, ip)),
        replaceRegexpOne(toString(toIPv6OrDefault(if(ip = '', host, ip))), '^::ffff:([0-9.]+)$', '\\1'),
        if(ip = '', host, ip)) AS client, program, database, command, verb, error_code,
    arrayMap(each -> toString(each), arrayDistinct(arrayConcat(tables_read, tables_written))) AS table_names,
    if(query_id IS NULL, '', leftPad(hex(assumeNotNull(query_id)), 16, '0')) AS query,
    query_seconds, sent_rows, text
FROM wanted
WHERE wanted.event_time >= lowest
ORDER BY wanted.event_time DESC, id DESC
LIMIT {limit:UInt32}
