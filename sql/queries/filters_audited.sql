{%- include "parts/logins.sql" -%}
{%- include "parts/display_names.sql" -%}
-- Filter values of the dashboards about logins and refused access, from the audit, general and error logs of a week.
-- Only the column of the filter is read.
SELECT
    cluster, instance, {{ named('user') }}, {{ client() }} AS src_ip, {{ network('src_ip') }} AS network,
    if(program_name = '', '(unknown)', program_name) AS program, {{ named('database') }}
FROM tailrace.audit_events
WHERE event_time >= now('UTC') - INTERVAL 7 DAY
UNION ALL
SELECT
    cluster, instance, {{ named('user') }}, {{ client() }} AS src_ip, {{ network('src_ip') }} AS network,
    '(unknown)' AS program, {{ named('database') }}
FROM tailrace.error_events
WHERE event_time >= now('UTC') - INTERVAL 7 DAY AND kind = 'access_denied'
