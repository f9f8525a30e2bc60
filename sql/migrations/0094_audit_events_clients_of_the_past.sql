-- Writes what 0093 added into the parts that exist. Until it is done, in the background, queries read the rows.
ALTER TABLE tailrace.audit_events {on_cluster}
    MATERIALIZE PROJECTION clients_by_day
