-- Writes what 0086 added into the parts that exist. Until it is done, in the background, queries read what is missing
-- from the tags and from the rows.
ALTER TABLE tailrace.query_events {on_cluster}
    MATERIALIZE COLUMN application,
    MATERIALIZE COLUMN endpoint,
    MATERIALIZE PROJECTION clients_by_day
