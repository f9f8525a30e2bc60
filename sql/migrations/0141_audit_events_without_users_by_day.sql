-- entities_1d answers what read this projection: an insert of audit records need not keep it.
ALTER TABLE tailrace.audit_events {on_cluster} DROP PROJECTION IF EXISTS users_by_day
