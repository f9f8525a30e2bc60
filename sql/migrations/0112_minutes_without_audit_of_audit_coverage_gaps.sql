-- Deprecated: the old name of audit_coverage_gaps.
CREATE OR REPLACE VIEW tailrace.minutes_without_audit {on_cluster}
SQL SECURITY INVOKER AS
SELECT instance, source, log, state, from_time, to_time, minutes
FROM tailrace.audit_coverage_gaps
COMMENT 'Deprecated: use audit_coverage_gaps'
