{%- include "parts/data_access.sql" -%}
-- Filter values of the dashboards about data access, from a week, including records that were written twice.
SELECT
    {{ whose() }},
    arrayJoin({{ touches() }}) AS touched, touched.1 AS data_class, touched.2 AS access
FROM tailrace.data_access
WHERE event_time >= now('UTC') - INTERVAL 7 DAY
