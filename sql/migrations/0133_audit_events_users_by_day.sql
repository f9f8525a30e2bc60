-- The page of a user or client counts its records by day, for months. clients_by_day begins with the kind of record, so that a
-- user was found by reading all clients. An address is compared as an IPv6 one, as the page does: logs write it in several forms.
ALTER TABLE tailrace.audit_events {on_cluster}
    ADD PROJECTION IF NOT EXISTS users_by_day
    (
        SELECT user, cluster, instance, source, event_class, command, event_name, status != 0, toDate(event_time), count()
        GROUP BY user, cluster, instance, source, event_class, command, event_name, status != 0, toDate(event_time)
    ) WITH SETTINGS (index_granularity = 1024),
    ADD PROJECTION IF NOT EXISTS addresses_by_day
    (
        SELECT
            toIPv6OrDefault(if(ip = '', host, ip)), if(ip = '', host, ip),
            cluster, instance, source, event_class, command, event_name, status != 0, toDate(event_time), count()
        GROUP BY
            toIPv6OrDefault(if(ip = '', host, ip)), if(ip = '', host, ip),
            cluster, instance, source, event_class, command, event_name, status != 0, toDate(event_time)
    ) WITH SETTINGS (index_granularity = 1024)
