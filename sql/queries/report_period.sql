{%- include "parts/utc.sql" -%}
-- The period of the report, [from, to), and the time when it was drawn, for printed pages.
SELECT
    {% if from_dttm %}formatDateTime({{ utc(from_dttm) }}, '%F %H:%i'){% else %}'the beginning'{% endif %} AS period_from,
    {% if to_dttm %}formatDateTime({{ utc(to_dttm) }}, '%F %H:%i'){% else %}'now'{% endif %} AS period_to,
    formatDateTime(now('UTC'), '%F %H:%i') AS drawn_at
