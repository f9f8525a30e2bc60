-- The records of each log from Performance Schema: used, counted only, unreadable, missing. `missing_bytes` is 0 in a correct database.
-- Parameters: instance (empty: all).
SELECT
    instance, path, file,
    to_offset AS size,
    records, used,
    ignored_records AS ignored,
    unreadable_records AS unreadable,
    gaps, gap_bytes, missing_bytes
FROM tailrace.performance_schema_ledger
WHERE {instance:String} = '' OR instance = {instance:String}
ORDER BY instance, path, file
