-- The status of the byte range of an alert about a gap: what is still missing of it, and which minutes of the log it covers.
-- Parameters: instance, source, log, generation, from_offset, to_offset.
WITH
    (
        WITH
    lost_files AS (
        SELECT {instance:String} AS instance, {source:String} AS source, {log:String} AS log, {generation:UInt64} AS generation
    ),
{%- include "parts/lost_ranges.sql" -%}
        SELECT groupArray(tuple(*)) FROM lost_ranges
        WHERE from_offset <= {from_offset:UInt64} AND to_offset >= {to_offset:UInt64}
    ) AS range_rows,
{%- include "parts/lost_records.sql" -%}
SELECT state, lost_bytes, missing_bytes, lost_at, log_from, log_to, repaired_at
FROM located
LIMIT 1
