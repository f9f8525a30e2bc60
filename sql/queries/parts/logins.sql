{#- Logins and refused logins, one row per attempt, for a WITH that defines range_start and range_end.

    A refused login may be in the audit, the general and the error log. The refusals of one account name on a server are
    grouped into series without a pause of more than two seconds, the tolerance for the clocks of logs (docs/DETECTION.md). Of
    each series, the log with the most refusals counts, or the audit log if several have the same number. A successful login may
    be in the audit and the general log: the general log counts in hours without a connection in the audit log of the server. -#}
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
    logged_refusals AS (
        SELECT
            audit_events.event_time AS event_time, toString(source) AS log, cluster, instance,
            toString(audit_events.user) AS user, {{ client() }} AS src_ip, toString(database) AS database,
            toString(program_name) AS program, connection_id, toString(connection_type) AS connection_type,
            toString(status) AS error, event_id
        FROM tailrace.audit_events
        WHERE audit_events.event_time >= range_start AND audit_events.event_time < range_end AND event_class = 'connection' AND status != 0
            AND
{%- include "parts/is_login.sql" -%}
        UNION ALL
        SELECT
            error_events.event_time, 'error log', cluster, instance,
            toString(error_events.user), {{ client() }}, toString(database), '', thread_id, '',
            if(code = '', '1045', toString(code)), event_id
        FROM tailrace.error_events
        WHERE error_events.event_time >= range_start AND error_events.event_time < range_end AND kind = 'access_denied'),
    refused_logins AS (
        SELECT * EXCEPT (begins, series, log_refusals, counted_log), arrayStringConcat(logs, ', ') AS source_logs
        FROM (
            SELECT
                *,
                argMin(log, (-toInt64(log_refusals), log)) OVER (PARTITION BY instance, lowerUTF8(user), series) AS counted_log,
                arraySort(groupUniqArray(log) OVER (PARTITION BY instance, lowerUTF8(user), series)) AS logs
            FROM (
                SELECT *, count() OVER (PARTITION BY instance, lowerUTF8(user), series, log) AS log_refusals
                FROM (
                    SELECT
                        *,
                        sum(begins) OVER (
                            PARTITION BY instance, lowerUTF8(user) ORDER BY event_time, event_id
                            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS series
                    FROM (
                        SELECT
                            *,
                            event_time > lagInFrame(event_time) OVER (
                                PARTITION BY instance, lowerUTF8(user) ORDER BY event_time, event_id
                                ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
                                + INTERVAL 2 SECOND AS begins
                        FROM logged_refusals))))
        WHERE log = counted_log)
{%- endmacro -%}
{#- `of_servers`: a condition on `instance` that begins with AND. -#}
{%- macro successful_logins(since='range_start', of_servers='') -%}
    audited_hours AS (
        SELECT DISTINCT instance, toStartOfHour(audit_events.event_time)
        FROM tailrace.audit_events
        WHERE audit_events.event_time >= {{ since }} AND audit_events.event_time < range_end
            AND event_class = 'connection' AND source = 'audit' {{ of_servers }}),
    refused_by_general AS (
        SELECT DISTINCT instance, connection_id, user
        FROM tailrace.audit_events
        WHERE audit_events.event_time >= {{ since }} AND audit_events.event_time < range_end
            AND event_class = 'connection' AND source = 'general' AND status != 0 {{ of_servers }}),
    successful_logins AS (
        SELECT
            audit_events.event_time AS event_time, toString(source) AS log, cluster, instance,
            toString(audit_events.user) AS user, {{ client() }} AS src_ip, toString(database) AS database,
            toString(program_name) AS program, connection_id, toString(connection_type) AS connection_type
        FROM tailrace.audit_events
        WHERE audit_events.event_time >= {{ since }} AND audit_events.event_time < range_end
            AND event_class = 'connection' AND status = 0 AND lower(command) = 'connect' AND event_name IN ('', 'connect')
            {{ of_servers }}
            AND (source = 'audit'
                OR (instance, toStartOfHour(audit_events.event_time)) NOT IN audited_hours
                    AND (instance, connection_id, user) NOT IN refused_by_general))
{%- endmacro -%}
