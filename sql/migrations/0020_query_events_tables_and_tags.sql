-- Which tables a statement reads and writes, and what the application says about itself in a comment, with the trace
-- that the statement belongs to.
ALTER TABLE tailrace.query_events {on_cluster}
    ADD COLUMN IF NOT EXISTS tables_read Array(LowCardinality(String)) AFTER flags,
    ADD COLUMN IF NOT EXISTS tables_written Array(LowCardinality(String)) AFTER tables_read,
    ADD COLUMN IF NOT EXISTS tags Map(String, String) CODEC(ZSTD(3)) AFTER tables_written,
    ADD COLUMN IF NOT EXISTS trace_id String CODEC(ZSTD(1)) AFTER tags,
    ADD COLUMN IF NOT EXISTS span_id String CODEC(ZSTD(1)) AFTER trace_id
