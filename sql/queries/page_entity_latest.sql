{%- set record_columns = ['event_time'] -%}
WITH
{%- include "parts/entity_records.sql" -%}
-- The time of the latest record of an entity; no row if there is none. Parameters: those of page_entity_timeline without
-- begin and width.
SELECT max(records.event_time) AS latest
FROM records
HAVING count() > 0
