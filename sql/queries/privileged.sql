{%- include "parts/time_range.sql" -%}
{%- include "parts/working_hours.sql" -%}
{%- include "parts/links.sql" -%}
{%- set with_logins = true -%}
{%- set administration -%}
{%- include "evidence_administration.sql" -%}
{%- endset -%}
{%- set definitions -%}
{%- include "evidence_definitions.sql" -%}
{%- endset -%}
{%- set rights -%}
{%- include "evidence_rights_changes.sql" -%}
{%- endset -%}
{%- set auditing -%}
{%- include "evidence_audit_log_changes.sql" -%}
{%- endset -%}
{%- set by_administrators -%}
    SELECT at, 'administrators' AS kind, cluster, instance, user AS name, client_host, client_ip,
        client_program AS program_name, if(statement = '', concat(class, ' ', record), statement) AS operation, result, connection,
        login_kind != '' AND startsWith(result, 'error') AS is_refused_login
    FROM (
{{ within_range(administration, 7) }}
    )
{%- endset -%}
{%- set of_definitions -%}
    SELECT at, 'schema changes' AS kind, cluster, instance, user AS name, client_host, client_ip,
        client_program AS program_name, if(statement = '', concat(action, ' ', affected_tables), statement) AS operation, result, connection,
        false AS is_refused_login
    FROM (
{{ within_range(definitions, 7) }}
    )
{%- endset -%}
{%- set of_rights -%}
    SELECT at, 'accounts and privileges' AS kind, cluster, instance,
        if(seen_by = 'audit log', user, '(server snapshot)') AS name, client_host, client_ip,
        client_program AS program_name, if(seen_by = 'audit log', change, concat('server snapshot: ', change)) AS operation, result, 0 AS connection,
        false AS is_refused_login
    FROM (
{{ within_range(rights, 7) }}
    )
{%- endset -%}
{%- set of_auditing -%}
    SELECT at, if(concerns = 'auditing', 'audit log', 'servers and plugins') AS kind, cluster, instance,
        transform(seen_in, ['look at the server', 'error log'], ['(server snapshot)', '(error log)'], toString(user)) AS name,
        client_host, client_ip,
        '' AS program_name,
        if(seen_in IN ('audit', 'general'), what,
            concat(replaceOne(seen_in, 'look at the server', 'server snapshot'), ': ', what)) AS operation,
        result, 0 AS connection, false AS is_refused_login
    FROM (
{{ within_range(auditing, 7) }}
    )
{%- endset -%}
-- Privileged activity by kind: records of administrators (a refused login is a record, but no activity), schema changes, changes of accounts and privileges, changes
-- of auditing, and events of every restart (server starts, plugin loads), as in the evidence. A schema change by an
-- administrator has two kinds, so kinds must not be added. Filters on the kind are also applied here, so that only the
-- selected kinds are queried.
{% set query -%}
WITH {{ shown_range(7) }}, {{ bar_width() }}
SELECT
    {{ bar('at') }} AS time,
    toDateTime(at, 'UTC') AS done_at,
    kind, cluster, instance,
    if(name = '', '(unknown)', name) AS user,
    if(client_ip = '', if(client_host = '', '(unknown)', client_host), client_ip) AS origin,
    if(program_name = '', '(unknown)', program_name) AS program,
    operation, result,
    startsWith(result, 'error') AS has_failed,
    is_refused_login,
    NOT {{ in_working_hours('done_at') }} AS out_of_hours,
    if(connection = 0, '', {{ link_to_session('done_at', 'instance', 'toString(connection)', "'session'") }}) AS session
FROM (
{%- for kinds, branch in [(['administrators'], by_administrators), (['schema changes'], of_definitions),
        (['accounts and privileges'], of_rights), (['audit log', 'servers and plugins'], of_auditing)]
        if not filter_values('kind') or filter_values('kind') | select('in', kinds) | list %}
{{ branch }}
    {%- if not loop.last %}
    UNION ALL
    {%- endif %}
{%- else %}
{{ by_administrators }}
{%- endfor %}
)
{%- endset -%}
{{ with_empty_buckets(query, 'done_at') }}
