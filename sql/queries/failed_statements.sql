{%- include "parts/time_range.sql" -%}
{%- include "parts/links.sql" -%}
{%- include "parts/failure_codes.sql" -%}
{%- include "parts/display_names.sql" -%}
-- Statements in slow logs that ended with an error, one row each. Only Percona Server, and MySQL with log_slow_extra,
-- log errors, and only for statements over the threshold.
{% set query -%}
WITH
    {{ shown_range(30) }},
    {{ bar_width() }}
SELECT
    {{ bar('event_time') }} AS time,
    toDateTime(event_time, 'UTC') AS at,
    cluster, instance, {{ named('database') }}, {{ named('user') }},
    if(client_ip = '', client_host, client_ip) AS src_ip,
    toString(query_events.connection_id) AS connection_id,
    toInt32(error_code) AS code,
    concat(toString(code), ' ', {{ meaning('code') }}) AS error,
    leftPad(hex(query_id), 16, '0') AS query_id,
    fingerprint AS query,
    weight, query_time AS seconds, lock_time AS lock_seconds
FROM tailrace.query_events
ANY LEFT JOIN tailrace.fingerprints USING (query_id, rule_set)
WHERE event_time >= range_start AND event_time < toDateTime64(range_end, 6, 'UTC') AND has_failed
{%- endset -%}
{{ with_empty_buckets(query, 'at') }}
