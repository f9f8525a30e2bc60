-- Changes of accounts and rights: statements of the audit logs, who with outcome, and what two looks at a server found
-- different. A change that only a look found was made past the audit log, or by other means than such a statement.
-- Parameters: from, to.
SELECT at, seen_by, cluster, instance, user, host AS client_host, ip AS client_ip, program AS client_program,
    what AS change, outcome AS result
FROM tailrace.rights_changes
WHERE at >= {from:DateTime('UTC')} AND at < {to:DateTime('UTC')}
ORDER BY at, instance, change
