{%- include "parts/range.sql" -%}
{%- set evidence -%}
{%- include "evidence_account_looks.sql" -%}
{%- endset -%}
-- What servers were asked of accounts and rights, and what they refused: as evidence tells it.
SELECT
    {{ end_of_range() }} AS as_of,
    instance, what, looks, answered, denied, failed, last_answer, last_error
FROM (
{{ within_range(evidence, 30) }}
)
