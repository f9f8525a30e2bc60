-- The way from a sample to its trace.
ALTER TABLE tailrace.query_samples {on_cluster}
    ADD COLUMN IF NOT EXISTS trace_id String CODEC(ZSTD(1)) AFTER statement,
    ADD COLUMN IF NOT EXISTS span_id String CODEC(ZSTD(1)) AFTER trace_id
