{%- include "parts/time_range.sql" -%}
{%- set evidence -%}
{%- include "evidence_days_without_review.sql" -%}
{%- endset -%}
-- Days without a signed review, as in the evidence.
SELECT
    greatest(toDateTime(day_without_review, 'UTC'), {{ begin_of_range() }}) AS time,
    toString(day_without_review) AS day,
    formatDateTime(day_without_review, '%W') AS weekday
FROM (
{{ within_range(evidence, 7) }}
)
