{%- include "parts/time_range.sql" -%}
{%- set evidence -%}
{%- include "evidence_reviews.sql" -%}
{%- endset -%}
-- Signed reviews of the time range, as in the evidence.
SELECT
    greatest(reviewed_from, {{ begin_of_range() }}) AS time,
    toDateTime(signed_at, 'UTC') AS signed_at, reviewer, reviewed, reviewed_from, reviewed_to, finding,
    if(corrects_review = '', '', concat('corrects ', corrects_review)) AS corrects,
    servers_reviewed, if(corrected_by = '', '', concat('corrected by ', corrected_by)) AS corrected
FROM (
{{ within_range(evidence, 7) }}
)
