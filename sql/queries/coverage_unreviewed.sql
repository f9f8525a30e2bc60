{%- include "parts/time_range.sql" -%}
{%- set evidence -%}
{%- include "evidence_days_without_review.sql" -%}
{%- endset -%}
-- Days that signed reviews do not cover completely, as in the evidence.
SELECT
    greatest(toDateTime(day_without_review, 'UTC'), {{ begin_of_range() }}) AS time,
    toString(day_without_review) AS day,
    formatDateTime(day_without_review, '%W') AS weekday,
    state, minutes_on_all_servers,
    concat(toString(complete_servers), ' of ', toString(known_servers)) AS servers_complete, reviewed_parts
FROM (
{{ within_range(evidence, 7, ends_now=true) }}
)
