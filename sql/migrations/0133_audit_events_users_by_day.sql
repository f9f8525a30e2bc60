-- The page of a user counts its records by day, for months, and the pages of users and clients ask which logs have records.
-- clients_by_day begins with the kind of record and has a row for each client, so that a user was found by reading all clients.
ALTER TABLE tailrace.audit_events {on_cluster}
    ADD PROJECTION IF NOT EXISTS users_by_day
    (
        SELECT user, cluster, instance, source, event_class, command, event_name, status != 0, toDate(event_time), count()
        GROUP BY user, cluster, instance, source, event_class, command, event_name, status != 0, toDate(event_time)
    ) WITH SETTINGS (index_granularity = 1024)
