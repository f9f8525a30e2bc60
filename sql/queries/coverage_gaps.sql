{%- include "parts/time_range.sql" -%}
{%- set evidence -%}
{%- include "evidence_gaps.sql" -%}
{%- endset -%}
-- Byte ranges of logs that were recorded as lost, and when a backfill filled them, as in the evidence.
SELECT
    toDateTime(at, 'UTC') AS recorded_at, cluster, instance, source, log, what AS gap_kind, state, length_bytes AS lost_bytes,
    missing_bytes, log_from, log_to, repaired_at
FROM (
{{ within_range(evidence, 7) }}
)
