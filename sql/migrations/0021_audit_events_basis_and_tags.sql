-- Whether the log or the statement named the tables, and the application's own tags and trace.
ALTER TABLE tailrace.audit_events {on_cluster}
    ADD COLUMN IF NOT EXISTS tables_basis LowCardinality(String) AFTER server_version,
    ADD COLUMN IF NOT EXISTS tags Map(String, String) CODEC(ZSTD(3)) AFTER tables_basis,
    ADD COLUMN IF NOT EXISTS trace_id String CODEC(ZSTD(1)) AFTER tags,
    ADD COLUMN IF NOT EXISTS span_id String CODEC(ZSTD(1)) AFTER trace_id
