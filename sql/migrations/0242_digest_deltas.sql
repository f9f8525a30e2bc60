-- Counters of mysqlreceiver's top queries since an earlier poll of the receiver. `seconds` counts since its last poll,
-- `statements` since the last record of the digest: do not divide them. NULL is unknown, as in the first record of a digest.
CREATE OR REPLACE VIEW tailrace.digest_deltas {on_cluster}
SQL SECURITY INVOKER AS
SELECT cluster, instance, at, database, digest, digest_text, statements, seconds, rows_examined, rows_sent
FROM tailrace.performance_schema_records FINAL
WHERE kind = 'top_query' AND ignored = ''
