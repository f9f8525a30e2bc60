-- Deprecated: the old name of privilege_changes, with the old column names and values.
CREATE OR REPLACE VIEW tailrace.rights_changes {on_cluster}
SQL SECURITY INVOKER AS
SELECT at, if(recorded_by = 'server snapshot', 'look at the server', recorded_by) AS seen_by, cluster, instance, user, host,
    ip, program, operation AS what, outcome
FROM tailrace.privilege_changes
COMMENT 'Deprecated: use privilege_changes'
