-- Writes the projection of 0175 into the parts that exist. Until it is done, in the background, queries read the rows.
ALTER TABLE tailrace.query_events {on_cluster}
    MATERIALIZE PROJECTION by_ingestion
