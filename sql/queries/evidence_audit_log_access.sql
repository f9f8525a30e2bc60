-- Access to logs: statements on the log tables and audit filters of the server, and exports of evidence from Tailrace.
-- Parameters: from, to.
WITH texts AS (
    SELECT query_id, any(fingerprint) AS text
    FROM tailrace.fingerprints
    WHERE match(fingerprint, 'general_log|slow_log|audit_log')
    GROUP BY query_id
)
SELECT
    event_time AS at, instance, user, client_host, client_ip, program_name AS client_program,
    if(empty(tables_written), 'read', 'changed') AS access,
    arrayStringConcat(arrayConcat(tables_read, tables_written), ', ') AS what, text AS statement,
{%- include "parts/result.sql" -%}
 AS result
FROM tailrace.audit_events
LEFT ANY JOIN texts ON texts.query_id = ifNull(audit_events.query_id, 0)
WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
    AND hasAny(arrayMap(name -> if(position(name, '.') > 0, name, concat(database, '.', name)), arrayConcat(tables_read, tables_written)),
        ['mysql.general_log', 'mysql.slow_log', 'mysql.audit_log_filter', 'mysql.audit_log_user'])
UNION ALL
SELECT
    at, 'Tailrace' AS instance, actor AS user, '' AS client_host, '' AS client_ip, 'tailrace evidence' AS client_program,
    'export' AS access, concat('evidence of ', toString(period_from), ' to ', toString(period_to), ' UTC') AS what,
    concat('manifest ', manifest_sha256) AS statement, 'success' AS result
FROM tailrace.evidence_exports
WHERE at >= {from:DateTime('UTC')} AND at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
ORDER BY at, instance
