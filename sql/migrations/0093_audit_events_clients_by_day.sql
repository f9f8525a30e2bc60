-- When an account was last used, and whether it ever logged in from a client, is asked of months: a row per client, kind of
-- record and day answers it, as 0086 does for the slow logs. Whether a record tells of an error is in the key, for a refusal is
-- no use, and the class of event leads it, for connections are few.
ALTER TABLE tailrace.audit_events {on_cluster}
    ADD PROJECTION IF NOT EXISTS clients_by_day
    (
        SELECT
            event_class, source, command, event_name, status != 0, cluster, instance, user, host, ip, toDate(event_time),
            count(), min(event_time), max(event_time)
        GROUP BY
            event_class, source, command, event_name, status != 0, cluster, instance, user, host, ip, toDate(event_time)
    )
