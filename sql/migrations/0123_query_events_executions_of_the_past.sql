-- Writes the projection of 0122 into the parts that exist. Until it is done, in the background, queries read the rows.
ALTER TABLE tailrace.query_events {on_cluster}
    MATERIALIZE PROJECTION executions_by_day
