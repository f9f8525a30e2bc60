{%- include "parts/session.sql" -%}
-- Filter values of Session, from all logs of a week. Only the column of the filter is read.
SELECT cluster, instance, toString(user) AS user, {{ client() }} AS src_ip
FROM tailrace.audit_events WHERE event_time >= now('UTC') - INTERVAL 7 DAY
UNION ALL
SELECT cluster, instance, toString(user), {{ client() }}
FROM tailrace.query_events WHERE event_time >= now('UTC') - INTERVAL 7 DAY
UNION ALL
SELECT cluster, instance, toString(user), {{ client() }}
FROM tailrace.error_events WHERE event_time >= now('UTC') - INTERVAL 7 DAY AND thread_id != 0
