-- Byte ranges that were recorded as lost, with the bytes that are still missing and the time of the last backfill.
WITH
{%- include "parts/lost_files.sql" -%}
{%- include "parts/lost_ranges.sql" -%}
SELECT
    cluster, instance, source, log, generation,
    concat(instance, ' · ', if(uniqExact(log) OVER (PARTITION BY instance, basename(log)) > 1, log, basename(log)))
        AS file,
    gap_kind, from_offset, to_offset, lost_bytes, missing_bytes,
    multiIf(missing_bytes = 0, 'repaired', missing_bytes = lost_bytes, 'missing', 'repaired in part') AS state,
    toDateTime(lost_at, 'UTC') AS recorded_at,
    repaired_at
FROM lost_ranges
