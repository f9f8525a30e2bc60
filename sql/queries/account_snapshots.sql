{%- include "parts/time_range.sql" -%}
{%- set evidence -%}
{%- include "evidence_account_looks.sql" -%}
{%- endset -%}
-- Snapshots of accounts and privileges by server, and what servers denied, as in the evidence.
SELECT
    {{ end_of_range() }} AS as_of,
    instance, what AS fact_kind, looks AS snapshots, answered, denied, failed, last_answer, last_error
FROM (
{{ within_range(evidence, 30) }}
)
