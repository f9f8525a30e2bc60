-- The page of a user or client counts its statements and errors by day, for months. Replaces the projection of 0086, which has
-- neither executions nor errors and is otherwise the same, so that an insert writes one projection as before.
ALTER TABLE tailrace.query_events {on_cluster}
    DROP PROJECTION IF EXISTS clients_by_day,
    ADD PROJECTION IF NOT EXISTS executions_by_day
    (
        SELECT
            cluster, instance, source, database, user, host, ip, error_code, toDate(event_time),
            count(), sum(weight), min(event_time), max(event_time)
        GROUP BY cluster, instance, source, database, user, host, ip, error_code, toDate(event_time)
    )
