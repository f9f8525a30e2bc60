-- An auditor's question: who changed accounts and rights? Statements of the audit logs, who with outcome; and what two
-- looks at a server found different, without who: a change that only stands there was made past the audit log. With the
-- rights of who reads it.
CREATE VIEW IF NOT EXISTS tailrace.rights_changes {on_cluster}
SQL SECURITY INVOKER AS
WITH changing AS (
    SELECT query_id, any(fingerprint) AS text
    FROM tailrace.fingerprints
    WHERE match(fingerprint, '^(/[*]m?![?]? ?)?((create( or replace)?|drop|alter|rename) (user|role)|grant|revoke|set (default role|password))\\b')
    GROUP BY query_id
)
SELECT
    event_time AS at, 'audit log' AS seen_by, cluster, instance, user, host, ip, program_name AS program,
    if(text != '', text, concat(command, ' ', command_class)) AS what,
    multiIf(has(flags, 'status_unknown'), 'unknown', status = 0, 'success', concat('error ', toString(status))) AS outcome
FROM tailrace.audit_events
LEFT ANY JOIN changing ON changing.query_id = ifNull(audit_events.query_id, 0)
WHERE event_class IN ('query', 'admin')
    AND (text != ''
        OR match(command_class, '^(create|drop|alter|rename)_(user|role)$|^(grant|revoke)|^set_password$')
        OR hasAny(arrayMap(name -> if(position(name, '.') > 0, name, concat(database, '.', name)), tables_written), ['mysql.user', 'mysql.global_priv', 'mysql.db', 'mysql.tables_priv', 'mysql.columns_priv',
            'mysql.procs_priv', 'mysql.proxies_priv', 'mysql.roles_mapping', 'mysql.role_edges', 'mysql.global_grants']))
UNION ALL
SELECT
    toDateTime64(at, 6, 'UTC') AS at, 'look at the server' AS seen_by, cluster, instance, '' AS user, '' AS host, '' AS ip,
    '' AS program,
    concat(kind, ': ', key, ' ', change, arrayStringConcat(arrayMap(
        name -> concat(', ', name, ': ', before[name], ' → ', after[name]),
        arrayFilter(name -> before[name] != after[name], arraySort(arrayDistinct(arrayConcat(mapKeys(before), mapKeys(after)))))))) AS what,
    'success' AS outcome
FROM tailrace.server_changes FINAL
WHERE kind IN ('accounts', 'roles') OR startsWith(kind, 'grants')
COMMENT 'Who changed accounts and rights: by the audit logs, and by what looks at servers found different'
