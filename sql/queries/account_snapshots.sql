{%- include "parts/time_range.sql" -%}
{%- set evidence -%}
{%- include "evidence_account_looks.sql" -%}
{%- endset -%}
-- Snapshots of accounts and privileges by server, and what servers denied, as in the evidence, and a row for each other server
-- that has logs: its accounts are unknown.
SELECT
    {{ end_of_range() }} AS as_of,
    instance, what AS fact_kind, looks AS snapshots, answered, denied, failed, last_answer, last_error
FROM (
{{ within_range(evidence, 30) }}
)
UNION ALL
SELECT {{ end_of_range() }}, instance, '(none: not queried)', 0, 0, 0, 0, NULL, ''
FROM (SELECT DISTINCT instance FROM tailrace.entities_1d WHERE entity_kind = 'log')
WHERE instance NOT IN (SELECT instance FROM tailrace.server_snapshots WHERE kind = 'accounts')
