-- Pages of users and the logs with records read entities_1d. Inserts and merges no longer write this projection.
ALTER TABLE tailrace.audit_events {on_cluster}
    DROP PROJECTION IF EXISTS users_by_day
