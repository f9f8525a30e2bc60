{#- Logins and refused logins, one row per attempt, for a WITH that defines range_start and range_end.

    The view refused_logins defines refused logins. A successful login may be in the audit and the general log: the general log
    counts in hours without a connection in the audit log of the server. -#}
{%- macro client() -%}
    coalesce(nullIf(client_ip, ''), nullIf(client_host, ''), '(unknown)')
{%- endmacro -%}
{%- macro network(address) -%}
    multiIf(
        isIPv4String({{ address }}),
        concat(IPv4NumToString(bitAnd(IPv4StringToNumOrDefault({{ address }}), 0xFFFFFF00)), '/24'),
        startsWith(lower({{ address }}), '::ffff:') AND isIPv4String(substring({{ address }}, 8)),
        concat(IPv4NumToString(bitAnd(IPv4StringToNumOrDefault(substring({{ address }}, 8)), 0xFFFFFF00)), '/24'),
        isIPv6String({{ address }}),
        concat(toString(tupleElement(IPv6CIDRToRange(toIPv6OrDefault({{ address }}), 64), 1)), '/64'),
        {{ address }})
{%- endmacro -%}
{%- macro refused_logins() -%}
    refused_logins AS (
        SELECT * FROM tailrace.refused_logins(begin = range_start, until = range_end))
{%- endmacro -%}
{#- `of_servers`: a condition on `instance` that begins with AND. -#}
{%- macro successful_logins(since='range_start', of_servers='') -%}
    audited_hours AS (
        SELECT DISTINCT instance, toStartOfHour(audit_events.event_time)
        FROM tailrace.audit_events
        WHERE audit_events.event_time >= {{ since }} AND audit_events.event_time < toDateTime64(range_end, 6, 'UTC')
            AND event_class = 'connection' AND source = 'audit' {{ of_servers }}),
    refused_by_general AS (
        SELECT DISTINCT instance, connection_id, user
        FROM tailrace.audit_events
        WHERE audit_events.event_time >= {{ since }} AND audit_events.event_time < toDateTime64(range_end, 6, 'UTC')
            AND event_class = 'connection' AND source = 'general' AND login_result = 'failure' {{ of_servers }}),
    successful_logins AS (
        SELECT
            audit_events.event_time AS event_time, toString(source) AS log, cluster, instance,
            toString(audit_events.user) AS user, {{ client() }} AS src_ip, toString(database) AS database,
            toString(program_name) AS program, connection_id, toString(connection_type) AS connection_type
        FROM tailrace.audit_events
        WHERE audit_events.event_time >= {{ since }} AND audit_events.event_time < toDateTime64(range_end, 6, 'UTC')
            AND event_class = 'connection' AND login_kind = 'connect' AND NOT has_failed
            {{ of_servers }}
            AND (source = 'audit'
                OR (instance, toStartOfHour(audit_events.event_time)) NOT IN audited_hours
                    AND (instance, connection_id, user) NOT IN refused_by_general))
{%- endmacro -%}
