{%- include "parts/time_range.sql" -%}
{%- set evidence -%}
{%- include "evidence_exports.sql" -%}
{%- endset -%}
-- Evidence exports, as in the evidence.
SELECT toDateTime(at, 'UTC') AS exported_at, actor, framework, period_from, period_to, file, result_rows, manifest_sha256,
    with_account
FROM (
{{ within_range(evidence, 7) }}
)
