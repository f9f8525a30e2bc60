{%- include "parts/statement.sql" -%}
{%- set stretches -%}
{%- include "logging_stretches.sql" -%}
{%- endset -%}
-- What the servers on which the statement ran were told to write into their slow logs, and when: as "Slow queries" shows it of
-- all servers.
WITH
    {{ chosen_statement() }},
    {{ known_ids() }}
SELECT * FROM (
{{ stretches }}
)
WHERE instance IN (
        SELECT query_events.instance FROM tailrace.query_events
        WHERE query_id GLOBAL IN (SELECT id FROM known_ids) AND event_time >= range_start AND event_time < range_end)
