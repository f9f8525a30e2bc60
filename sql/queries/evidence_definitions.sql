-- Created, altered and dropped databases, tables, views, routines, triggers, events, indexes and plugins.
-- Parameters: from, to.
WITH texts AS (
    SELECT query_id, any(fingerprint) AS text FROM tailrace.fingerprints
    WHERE match(fingerprint, '^(/[*]m?![?]? ?)?(create|drop|alter|rename|truncate|install|uninstall)\\b')
    GROUP BY query_id
)
SELECT
    event_time AS at, cluster, instance, user, client_host, client_ip, program_name AS client_program,
    connection_id AS connection, verb AS action, database AS default_database, arrayStringConcat(tables_written, ', ') AS affected_tables,
    text AS statement,
{%- include "parts/result.sql" -%}
 AS result,
    toString(event_id) AS event
FROM tailrace.audit_events
LEFT ANY JOIN texts ON texts.query_id = ifNull(audit_events.query_id, 0)
WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC') AND event_class IN ('query', 'admin')
    AND (verb IN ('CREATE', 'DROP', 'ALTER', 'RENAME', 'TRUNCATE', 'INSTALL', 'UNINSTALL') OR text != '')
    AND NOT match(text, '^(/[*]m?![?]? ?)?(create( or replace)?|drop|alter|rename) (user|role)')
ORDER BY at, instance, event
