-- Activity of administrators: audit events of root, and of accounts with a global administrative privilege in any
-- snapshot of the period. One row per audit record, without the rows for single tables of a statement. Where users are stored
-- as pseudonyms (docs/ERASURE.md), it is unknown which of them are administrators: one row per server counts their records.
-- Parameters: from, to.
WITH
{%- include "parts/administrators.sql" -%}
    texts AS (
        SELECT query_id, any(fingerprint) AS text
        FROM tailrace.fingerprints
        WHERE query_id IN (
            SELECT ifNull(query_id, 0) FROM tailrace.audit_events
            WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC'))
        GROUP BY query_id
    )
SELECT * FROM (
SELECT
    event_time AS at, cluster, instance, user, priv_user AS effective_user, client_host, client_ip,
    program_name AS client_program, connection_id AS connection, event_class AS class, command AS record,
    database AS default_database, text AS statement,
{%- include "parts/result.sql" -%}
 AS result,
    toString(event_id) AS event{% if with_logins | default(false) %}, login_kind{% endif %}
FROM tailrace.audit_events
LEFT ANY JOIN texts ON texts.query_id = ifNull(audit_events.query_id, 0)
WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC') AND event_class != 'table'
    AND (lower(user) = 'root' OR lower(priv_user) = 'root' OR (instance, user) IN administrators OR (instance, priv_user) IN administrators)
UNION ALL
SELECT
    max(event_time) AS at, cluster, instance, '(pseudonyms)' AS user, '' AS effective_user, '' AS client_host, '' AS client_ip,
    '' AS client_program, toUInt64(0) AS connection, 'unknown' AS class, '' AS record, '' AS default_database,
    concat(toString(count()), if(count() = 1, ' record', ' records'), ' of users that are stored as pseudonyms: not compared with administrators') AS statement,
    'unknown' AS result, '' AS event{% if with_logins | default(false) %}, '' AS login_kind{% endif %}
FROM tailrace.audit_events
WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC') AND event_class != 'table'
    AND match(audit_events.user, '^p1-user-[0-9a-f]+$')
GROUP BY cluster, instance
)
ORDER BY at, instance, event
