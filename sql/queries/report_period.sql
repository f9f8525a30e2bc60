{%- include "parts/utc.sql" -%}
-- The period that a page shows, for pages that are read on paper: [from, to), and when it was drawn.
SELECT
    {% if from_dttm %}formatDateTime({{ utc(from_dttm) }}, '%F %H:%i'){% else %}'the beginning'{% endif %} AS period_from,
    {% if to_dttm %}formatDateTime({{ utc(to_dttm) }}, '%F %H:%i'){% else %}'now'{% endif %} AS period_to,
    formatDateTime(now('UTC'), '%F %H:%i') AS drawn_at
