-- Changes of accounts and privileges: statements in audit logs with user and outcome, and differences between two
-- snapshots of a server. A change that only a snapshot shows bypassed the audit log or used other statements.
-- Columns and values of the evidence stay as they were, because scripts of auditors read them.
-- Parameters: from, to.
SELECT at, replaceOne(recorded_by, 'server snapshot', 'look at the server') AS seen_by, cluster, instance, user,
    host AS client_host, ip AS client_ip, program AS client_program, operation AS change, outcome AS result
FROM tailrace.privilege_changes
WHERE at >= {from:DateTime('UTC')} AND at < {to:DateTime('UTC')}
ORDER BY at, instance, change
