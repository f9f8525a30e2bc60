-- Statements by query id, text or table; the newest 200. `last_seen` may be early (page_query_last_seen.sql). A parameter that is empty or 0 finds nothing.
-- Parameters: prefix (of the query id, upper case), number (the query id as a decimal number), text (anywhere in the
-- fingerprint, in any case), tables (names in lower case, with or without their database).
SELECT
    id, anyLast(fingerprint) AS query, toDateTime(max(last_seen_at), 'UTC') AS last_seen,
    multiIf(is_id, 'id', is_table, 'table', 'text') AS found_by
FROM (
    SELECT
        query_id AS id, fingerprint, last_seen_at,
        {prefix:String} != '' AND startsWith(leftPad(hex(query_id), 16, '0'), {prefix:String})
            OR {number:UInt64} != 0 AND query_id = {number:UInt64} AS is_id,
        notEmpty({tables:Array(String)}) AND arrayExists(
            name -> has({tables:Array(String)}, name) OR has({tables:Array(String)}, splitByChar('.', name)[-1]),
            arrayMap(name -> lower(replaceAll(name, '`', '')), arrayConcat(tables_read, tables_written))) AS is_table,
        {text:String} != '' AND positionCaseInsensitiveUTF8(fingerprint, {text:String}) > 0 AS is_text
    FROM tailrace.fingerprints
    WHERE is_id OR is_table OR is_text)
GROUP BY id, found_by
ORDER BY found_by, last_seen DESC, id
LIMIT 200
