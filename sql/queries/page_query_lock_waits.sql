-- Waits for metadata locks of the tables of one statement, on the servers of its clusters, the latest first: the session that
-- waited, a session that had a lock of the table, and what that did at the last poll ('Sleep': it ran no statement).
-- Parameters: from, to, query_ids, names (tables in lower case, with or without their database), cluster, instance.
WITH
    {from:DateTime('UTC')} AS range_start, {to:DateTime('UTC')} AS range_end,
{%- include "parts/tables_of_statement.sql" -%}
{%- include "parts/metadata_lock_waits.sql" -%}
SELECT
    last_at AS at, began AS since, toString(instance) AS server, concat(waits.database, '.', object_name) AS name,
    waited_seconds, waiting_connection, toString(waiting_user) AS waiting_user, toString(waiting_host) AS waiting_host,
    toString(waiting_lock) AS waiting_lock, holding_connection, toString(holding_user) AS holding_user,
    toString(holding_host) AS holding_host, toString(holding_lock) AS holding_lock,
    toString(holding_command) AS holding_command, held_seconds
FROM waits
WHERE has(wanted, lower(concat(waits.database, '.', object_name))) AND instance IN (SELECT instance FROM ran)
ORDER BY last_at DESC, waited_seconds DESC, server, name, waiting_connection, holding_connection
LIMIT 200
