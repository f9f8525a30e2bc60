-- What the other audit formats say and MariaDB's and Percona's JSON do not: the kind and port of a connection, the
-- client's program, the server's version, and the tables that an event reads and writes.
ALTER TABLE tailrace.audit_events {on_cluster}
    ADD COLUMN IF NOT EXISTS event_name LowCardinality(String) AFTER flags,
    ADD COLUMN IF NOT EXISTS record_id String CODEC(ZSTD(3)) AFTER event_name,
    ADD COLUMN IF NOT EXISTS port Int32 CODEC(T64, ZSTD(1)) AFTER record_id,
    ADD COLUMN IF NOT EXISTS connection_type LowCardinality(String) AFTER port,
    ADD COLUMN IF NOT EXISTS tables_read Array(LowCardinality(String)) AFTER connection_type,
    ADD COLUMN IF NOT EXISTS tables_written Array(LowCardinality(String)) AFTER tables_read,
    ADD COLUMN IF NOT EXISTS program_name LowCardinality(String) AFTER tables_written,
    ADD COLUMN IF NOT EXISTS connection_attributes Map(String, String) CODEC(ZSTD(3)) AFTER program_name,
    ADD COLUMN IF NOT EXISTS server_id UInt64 CODEC(T64, ZSTD(1)) AFTER connection_attributes,
    ADD COLUMN IF NOT EXISTS server_version LowCardinality(String) AFTER server_id
