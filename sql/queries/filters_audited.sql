{%- include "parts/logins.sql" -%}
{%- include "parts/named.sql" -%}
-- What can be picked in the filters of dashboards about logins and refusals: of the audit, general and error logs of a week. Only
-- the column that a filter asks for is read.
SELECT
    cluster, instance, {{ named('user') }}, {{ client() }} AS src_ip, {{ network('src_ip') }} AS network,
    if(program_name = '', '(not told)', program_name) AS program, {{ named('database') }}
FROM tailrace.audit_events
WHERE event_time >= now('UTC') - INTERVAL 7 DAY
UNION ALL
SELECT
    cluster, instance, {{ named('user') }}, {{ client() }} AS src_ip, {{ network('src_ip') }} AS network,
    '(not told)' AS program, {{ named('database') }}
FROM tailrace.error_events
WHERE event_time >= now('UTC') - INTERVAL 7 DAY AND kind = 'access_denied'
