-- Which minutes got rows in which second: the transparency log asks once a minute for the minutes with new rows, late ones too
-- (docs/adr/0062). A projection comes and goes with the rows, so both always agree.
ALTER TABLE tailrace.query_events {on_cluster}
    ADD PROJECTION IF NOT EXISTS by_ingestion
    (
        SELECT ingested_at, toStartOfMinute(event_time), count()
        GROUP BY ingested_at, toStartOfMinute(event_time)
    )
