-- Changes of auditing between two snapshots of a server since a time: of plugins, components, filters and their variables.
-- Parameters: since.
SELECT instance, key, change, count() AS changes
FROM tailrace.server_changes FINAL
WHERE at > toDateTime64({since:DateTime('UTC')}, 6, 'UTC')
    AND (kind = 'audit' OR kind = 'settings' AND (key LIKE 'server_audit%' OR key LIKE 'audit_log%'))
GROUP BY instance, key, change
ORDER BY instance, key, change
