{%- include "parts/data_access.sql" -%}
-- What can be picked in the filters of dashboards about access to data: of a week, records that were written twice among them.
SELECT
    {{ whose() }},
    arrayJoin({{ touches() }}) AS touched, touched.1 AS data_class, touched.2 AS access
FROM tailrace.data_access
WHERE event_time >= now('UTC') - INTERVAL 7 DAY
