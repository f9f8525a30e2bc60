-- Entries that could not become events. The raw bytes stay out: they may hold secrets (docs/SECURITY.md).
-- Superseded ones have become events since, through a backfill or a better parser.
SELECT
    toDateTime(seen_at, 'UTC') AS seen_at, cluster, instance, source, log, generation, entry_offset, entry_bytes,
    concat(instance, ' · ', if(uniqExact(log) OVER (PARTITION BY instance, basename(log)) > 1, log, basename(log)))
        AS file,
    stage, code, message, superseded
FROM tailrace.dead_letters FINAL
