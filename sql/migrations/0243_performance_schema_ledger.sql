-- The records of each file: used, counted only (ignored), unreadable, or a gap. Bytes without a row are
-- missing_bytes; negative if ranges overlap. 0 in a correct database, also after rows at the start have been deleted.
CREATE OR REPLACE VIEW tailrace.performance_schema_ledger {on_cluster}
SQL SECURITY INVOKER AS
SELECT
    cluster,
    instance,
    path,
    file,
    countIf(kind != 'gap') AS records,
    countIf(kind != 'gap' AND ignored = '') AS used,
    countIf(kind != 'gap' AND ignored != '' AND NOT startsWith(ignored, 'unreadable')) AS ignored_records,
    countIf(startsWith(ignored, 'unreadable')) AS unreadable_records,
    countIf(kind = 'gap') AS gaps,
    sumIf(entry_bytes, kind = 'gap') AS gap_bytes,
    min(entry_offset) AS from_offset,
    max(entry_offset + entry_bytes) AS to_offset,
    toInt64(to_offset - from_offset) - toInt64(sum(entry_bytes)) AS missing_bytes,
    min(read_at) AS first_read_at,
    max(read_at) AS last_read_at
FROM tailrace.performance_schema_records FINAL
GROUP BY cluster, instance, path, file
