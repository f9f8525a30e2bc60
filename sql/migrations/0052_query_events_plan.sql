-- The plan of each execution, where the log says it.
ALTER TABLE tailrace.query_events {on_cluster}
    ADD COLUMN IF NOT EXISTS plan_hash LowCardinality(String) AFTER explain
