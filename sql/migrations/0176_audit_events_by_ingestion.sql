-- As 0175.
ALTER TABLE tailrace.audit_events {on_cluster}
    ADD PROJECTION IF NOT EXISTS by_ingestion
    (
        SELECT ingested_at, toStartOfMinute(event_time), count()
        GROUP BY ingested_at, toStartOfMinute(event_time)
    )
