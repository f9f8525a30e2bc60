-- The DDL on the tables of one statement in the slow logs of its clusters, newest first: who ran it, where, and its masked
-- text. Without DDL that failed. A slow log contains DDL only above its threshold and if it logs administrative statements.
-- A name without a database is of the default database of its connection.
-- Parameters: from, to, oldest (of the DDL), query_ids, names (in lower case, with or without their database), cluster, instance.
WITH
{%- include "parts/tables_of_statement.sql" -%}
    texts AS (
        SELECT query_id AS id, anyLast(fingerprint) AS text
        FROM tailrace.fingerprints
        WHERE verb IN ('CREATE', 'ALTER', 'DROP', 'RENAME', 'TRUNCATE') AND notEmpty(tables_written)
        GROUP BY query_id)
SELECT
    toDateTime(event_time, 'UTC') AS at, toString(instance) AS server, toString(user) AS user,
    if(client_ip = '', client_host, client_ip) AS client, toString(database) AS database, toString(verb) AS verb,
    tables_written AS tables, texts.text AS text
FROM tailrace.query_events
ANY INNER JOIN texts ON texts.id = query_events.query_id
WHERE query_id IN (SELECT id FROM texts)
    AND event_time >= {oldest:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
    AND ifNull(error_code, 0) = 0
    AND (instance IN (SELECT instance FROM ran) OR cluster != '' AND cluster IN (SELECT cluster FROM ran))
    AND arrayExists(
        name -> has(wanted, if(position(name, '.') > 0, name, concat(lower(database), '.', name))),
        arrayMap(name -> lower(replaceAll(name, '`', '')), tables_written))
ORDER BY event_time DESC, server, text
LIMIT 200
