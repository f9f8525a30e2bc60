{%- include "parts/time_range.sql" -%}
{%- include "parts/links.sql" -%}
{%- include "parts/failure_codes.sql" -%}
-- Slow log entries of the connection in the filter, in order; no rows without a filter.
{%- set chosen = filter_values('connection_id') %}
WITH
    {{ shown_range(1) }}
SELECT
    toDateTime(event_time, 'UTC') AS at,
    cluster, instance, database, user,
    if(client_ip = '', client_host, client_ip) AS src_ip,
    toString(query_events.connection_id) AS connection_id,
    leftPad(hex(query_id), 16, '0') AS query_id,
    fingerprint AS query,
    query_time AS seconds, lock_time AS lock_seconds, rows_examined,
    if(ifNull(error_code, 0) = 0, '', concat(toString(error_code), ' ', {{ meaning('error_code') }})) AS error,
    {{ link_to_query('query_id', "'open'") }} AS link
FROM tailrace.query_events
ANY LEFT JOIN tailrace.fingerprints USING (query_id, rule_set)
WHERE event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC')
    AND {% if chosen %} toString(query_events.connection_id) IN {{ chosen | where_in }} {% else %} 0 {% endif %}
