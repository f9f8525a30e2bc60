{%- include "parts/session.sql" -%}
-- What can be picked in the filters of Session: of all logs of a week. Only the column that a filter asks for is read.
SELECT cluster, instance, toString(user) AS user, {{ client() }} AS src_ip
FROM tailrace.audit_events WHERE event_time >= now('UTC') - INTERVAL 7 DAY
UNION ALL
SELECT cluster, instance, toString(user), {{ client() }}
FROM tailrace.query_events WHERE event_time >= now('UTC') - INTERVAL 7 DAY
UNION ALL
SELECT cluster, instance, toString(user), {{ client() }}
FROM tailrace.error_events WHERE event_time >= now('UTC') - INTERVAL 7 DAY AND thread_id != 0
