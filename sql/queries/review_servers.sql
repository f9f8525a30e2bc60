-- The servers that a signed review may name: those known until the end of its period. Parameters: from, to.
WITH
{%- include "parts/known_servers.sql" -%}
SELECT instance FROM known_servers
ORDER BY instance
