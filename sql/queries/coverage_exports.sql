{%- include "parts/time_range.sql" -%}
-- Evidence exports of any part of the time range, as in the evidence.
WITH {{ shown_range(7) }}
SELECT
    greatest(period_from, {{ begin_of_range() }}) AS time,
    toDateTime(at, 'UTC') AS exported_at, actor, framework, period_from, period_to, file, result_rows, manifest_sha256,
    with_account
FROM (
{%- include "evidence_exports.sql" -%}
)
WHERE period_from < range_end AND period_to > range_start
