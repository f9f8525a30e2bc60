{%- include "parts/statement.sql" -%}
{%- set intervals -%}
{%- include "logging_intervals.sql" -%}
{%- endset -%}
-- The slow log settings of the servers on which the statement ran, by interval, like the chart of "Slow queries" for
-- all servers.
WITH
    {{ chosen_statement() }},
    {{ known_ids() }}
SELECT * FROM (
{{ intervals }}
)
WHERE instance IN (
        SELECT query_events.instance FROM tailrace.query_events
        WHERE query_id GLOBAL IN (SELECT id FROM known_ids) AND event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC'))
