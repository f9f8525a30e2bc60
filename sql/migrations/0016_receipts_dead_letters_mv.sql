-- Counts the rows of dead_letters that were really inserted, by stage and code; those that take an earlier one
-- back are counted apart, as SUPERSEDED.
CREATE MATERIALIZED VIEW IF NOT EXISTS tailrace.receipts_dead_letters_mv {on_cluster}
TO tailrace.receipts
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    instance,
    source,
    log,
    generation,
    if(superseded, 'SUPERSEDED', 'DEAD_LETTER') AS kind,
    stage,
    code,
    toDate(ingested_at, 'UTC') AS day,
    after_checkpoint,
    count() AS rows,
    sum(entry_bytes) AS bytes
FROM tailrace.dead_letters
GROUP BY instance, source, log, generation, kind, stage, code, day, after_checkpoint
