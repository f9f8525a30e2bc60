{%- include "parts/time_range.sql" -%}
{%- include "parts/logins.sql" -%}
{%- include "parts/error_codes.sql" -%}
{%- include "parts/refusal_codes.sql" -%}
{%- include "parts/links.sql" -%}
-- Invalid logical access attempts (PCI DSS 10.2.1.4): refused logins, one row per attempt even if several logs contain
-- it, and statements that privileges did not allow, from audit and general logs. The evidence of refused access
-- contains the same rows.
{% set query -%}
WITH
    {{ shown_range(7) }},
    {{ bar_width() }},
    {{ refused_logins() }}
SELECT
    {{ bar('attempts.event_time') }} AS time,
    toDateTime(attempts.event_time, 'UTC') AS event_time,
    attempt, cluster, instance,
    if(name = '', '(none)', name) AS user,
    src_ip,
    {{ network('src_ip') }} AS network,
    if(program = '', '(unknown)', program) AS program,
    if(database = '', '(none)', database) AS database,
    {{ error_text('error') }} AS reason,
    source_logs,
    object_of AS refused_object,
    toString(attempts.connection_id) AS connection_id,
    {{ link_to_session('attempts.event_time', 'instance', 'toString(attempts.connection_id)', "'session'") }} AS link
FROM (
    SELECT
        event_time, 'login' AS attempt, cluster, instance, user AS name, src_ip, program, database, error, source_logs,
        '' AS object_of, connection_id
    FROM refused_logins
    UNION ALL
    SELECT
        audit_events.event_time, 'statement', cluster, instance, toString(user), {{ client() }}, toString(program_name),
        toString(database), toString(status), toString(source),
        if(texts.fingerprint = '', concat(lower(command), ' ', object), texts.fingerprint), connection_id
    FROM tailrace.audit_events
    ANY LEFT JOIN (
        SELECT assumeNotNull(query_id) AS query_id, rule_set, fingerprint FROM tailrace.fingerprints
    ) AS texts ON texts.query_id = audit_events.query_id AND texts.rule_set = audit_events.rule_set
    WHERE audit_events.event_time >= range_start AND audit_events.event_time < toDateTime64(range_end, 6, 'UTC')
        AND event_class != 'table' AND event_name IN ('', 'status', 'connect', 'change_user')
        AND login_command = ''
        AND status IN {{ all_refusals() }}
) AS attempts
{%- endset -%}
{{ with_empty_buckets(query, 'event_time') }}
