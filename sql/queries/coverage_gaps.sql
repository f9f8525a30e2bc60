{%- include "parts/time_range.sql" -%}
{%- set evidence -%}
{%- include "evidence_gaps.sql" -%}
{%- endset -%}
-- Byte ranges of logs that were recorded as lost, and when a backfill filled them, as in the evidence. `at` is a time within
-- the range for each range of bytes that was lost from the log's minutes of the range, recorded in it, or filled in it.
WITH
    {{ begin_of_range() }} AS first_shown,
    {{ end_of_range() }} AS last_shown
SELECT
    multiIf(
        log_from <= last_shown AND log_to >= first_shown, greatest(log_from, first_shown),
        recorded_at < first_shown AND repaired_at BETWEEN first_shown AND last_shown, repaired_at,
        recorded_at) AS at,
    *
FROM (
    SELECT
        toDateTime(at, 'UTC') AS recorded_at, cluster, instance, source, log, what AS gap_kind, state, length_bytes AS lost_bytes,
        missing_bytes, log_from, log_to, repaired_at
    FROM (
{{ within_range(evidence, 7) }}
    )
)
