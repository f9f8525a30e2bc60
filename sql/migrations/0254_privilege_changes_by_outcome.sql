-- Replaces 0109: the outcome of a record is that of 0250, so a record that is written before its statement runs is `unknown`.
CREATE OR REPLACE VIEW tailrace.privilege_changes {on_cluster}
SQL SECURITY INVOKER AS
WITH changing AS (
    SELECT query_id, any(fingerprint) AS text
    FROM tailrace.fingerprints
    WHERE match(fingerprint, '^(/[*]m?![?]? ?)?((create( or replace)?|drop|alter|rename) (user|role)|grant|revoke|set (default role|password))\\b')
    GROUP BY query_id
)
SELECT
    event_time AS at, 'audit log' AS recorded_by, cluster, instance, user, host, ip, program_name AS program,
    if(text != '', text, concat(command, ' ', command_class)) AS operation,
    if(status = 0, event_outcome, concat('error ', toString(status))) AS outcome
FROM tailrace.audit_events
LEFT ANY JOIN changing ON changing.query_id = ifNull(audit_events.query_id, 0)
WHERE event_class IN ('query', 'admin')
    AND (text != ''
        OR match(command_class, '^(create|drop|alter|rename)_(user|role)$|^(grant|revoke)|^set_password$')
        OR hasAny(arrayMap(name -> if(position(name, '.') > 0, name, concat(database, '.', name)), tables_written), ['mysql.user', 'mysql.global_priv', 'mysql.db', 'mysql.tables_priv', 'mysql.columns_priv',
            'mysql.procs_priv', 'mysql.proxies_priv', 'mysql.roles_mapping', 'mysql.role_edges', 'mysql.global_grants']))
UNION ALL
SELECT
    toDateTime64(at, 6, 'UTC') AS at, 'server snapshot' AS recorded_by, cluster, instance, '' AS user, '' AS host, '' AS ip,
    '' AS program,
    concat(kind, ': ', key, ' ', change, arrayStringConcat(arrayMap(
        name -> concat(', ', name, ': ', before[name], ' → ', after[name]),
        arrayFilter(name -> before[name] != after[name], arraySort(arrayDistinct(arrayConcat(mapKeys(before), mapKeys(after)))))))) AS operation,
    'success' AS outcome
FROM tailrace.server_changes FINAL
WHERE kind IN ('accounts', 'roles') OR startsWith(kind, 'grants')
COMMENT 'Changes of accounts and privileges, from audit logs and from differences between two snapshots'
