{%- include "parts/time_range.sql" -%}
{%- set evidence -%}
{%- include "evidence_gaps.sql" -%}
{%- endset -%}
-- Byte ranges of logs that were recorded as lost, and those that a backfill filled, as in the evidence.
SELECT toDateTime(at, 'UTC') AS recorded_at, cluster, instance, source, log, what AS change, length_bytes
FROM (
{{ within_range(evidence, 7) }}
)
