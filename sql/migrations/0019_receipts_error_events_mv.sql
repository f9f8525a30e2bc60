-- Counts the rows of error_events that were really inserted.
CREATE MATERIALIZED VIEW IF NOT EXISTS tailrace.receipts_error_events_mv {on_cluster}
TO tailrace.receipts
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    instance,
    source,
    log,
    generation,
    'EVENT' AS kind,
    'PARSER' AS stage,
    '' AS code,
    toDate(ingested_at, 'UTC') AS day,
    after_checkpoint,
    count() AS rows,
    sum(entry_bytes) AS bytes
FROM tailrace.error_events
GROUP BY instance, source, log, generation, day, after_checkpoint
