-- Byte ranges that were recorded as lost since the period began, or that were filled since: one row per range, with the bytes that
-- are still missing and the time of the last backfill. `log_from` and `log_to` are the minutes of the log that the range covers:
-- the times of its first and last record once it is filled, before that those of the records around it. They are unknown if no
-- record of the file is stored of the two days before the loss. The coverage shows the affected minutes of the census.
-- Parameters: from.
WITH
    (
        WITH
{%- include "parts/lost_files.sql" -%}
{%- include "parts/lost_ranges.sql" -%}
        SELECT groupArray(tuple(*)) FROM lost_ranges
        WHERE lost_at >= {from:DateTime('UTC')} OR repaired_at >= {from:DateTime('UTC')}
    ) AS range_rows,
{%- include "parts/lost_records.sql" -%}
SELECT
    lost_at AS at, cluster, instance, source, log, generation, gap_kind AS what, state, from_offset, to_offset,
    lost_bytes AS length_bytes, missing_bytes, log_from, log_to, repaired_at
FROM located
ORDER BY at, instance, source, log, from_offset
