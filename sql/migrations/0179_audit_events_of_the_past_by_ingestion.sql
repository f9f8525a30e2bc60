-- Writes the projection of 0176 into the parts that exist. Until it is done, in the background, queries read the rows.
ALTER TABLE tailrace.audit_events {on_cluster}
    MATERIALIZE PROJECTION by_ingestion
