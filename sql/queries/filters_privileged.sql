{%- include "parts/time_range.sql" -%}
{%- set administrators -%}
{%- include "parts/administrators.sql" -%}
{%- endset -%}
-- Filter values of Privileged activity, from a week of audit records of administrators, and of all statements that
-- define or grant.
WITH
    {{ within_range(administrators, 7) }}
    records AS (
        SELECT cluster, instance, user, program_name FROM tailrace.audit_events
        WHERE event_time >= now('UTC') - INTERVAL 7 DAY AND event_class != 'table'
            AND (lower(user) = 'root' OR (instance, user) IN administrators
                OR verb IN ('CREATE', 'ALTER', 'DROP', 'RENAME', 'TRUNCATE', 'INSTALL', 'UNINSTALL', 'GRANT', 'REVOKE', 'SET', 'SHUTDOWN')))
SELECT
    cluster, instance,
    if(records.user = '', '(unknown)', records.user) AS user,
    if(program_name = '', '(unknown)', program_name) AS program,
    arrayJoin(['administrators', 'schema changes', 'accounts and privileges', 'audit log', 'servers and plugins']) AS kind
FROM records
