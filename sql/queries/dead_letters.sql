-- Entries that could not become events, without the raw bytes, which may contain secrets (docs/SECURITY.md). Superseded
-- ones have since become events through a backfill or an improved parser.
SELECT
    toDateTime(dead_letters.seen_at, 'UTC') AS rejected_at, cluster, instance, source, log, generation, entry_offset, entry_bytes,
    concat(instance, ' · ', if(uniqExact(log) OVER (PARTITION BY instance, basename(log)) > 1, log, basename(log)))
        AS file,
    stage, code, message, superseded
FROM tailrace.dead_letters FINAL
