{%- include "parts/time_range.sql" -%}
{%- set evidence -%}
{%- include "evidence_rights_changes.sql" -%}
{%- endset -%}
-- Changes of accounts and privileges, from statements in audit logs and from differences between snapshots that no statement
-- explains, as in the evidence.
{% set query -%}
WITH {{ shown_range(30) }}, {{ bar_width() }}
SELECT
    {{ bar('at') }} AS time,
    toDateTime(at, 'UTC') AS changed_at,
    multiIf(seen_by != 'audit log', 'server snapshot', confirmed_by = '', 'audit log', 'audit log, server snapshot') AS recorded_by,
    cluster, instance, user,
    coalesce(nullIf(client_ip, ''), nullIf(client_host, ''), '(unknown)') AS origin,
    if(client_program = '', '(unknown)', client_program) AS program,
    change, result,
    arrayStringConcat(arrayDistinct(extractAll(
        replaceAll(change, '`', '\''), '(?:\'[^\']*\'|[A-Za-z0-9_$]+)@\'[^\']*\'')), ', ') AS named_accounts,
    if(named_accounts = '', '(none named)', named_accounts) AS account
FROM (
{{ within_range(evidence, 30) }}
)
{%- endset -%}
{{ with_empty_buckets(query, 'changed_at') }}
