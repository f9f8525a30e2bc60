-- Events that started, stopped or changed auditing: statements that set its variables or load and remove its plugins,
-- the first and last record of an audit log, starts and stops of servers, and changes of audit settings between
-- snapshots. `concerns` distinguishes changes of auditing from events of every restart. A library or component whose
-- name is masked may be the audit plugin.
-- Parameters: from, to.
WITH changing AS (
    SELECT query_id, any(fingerprint) AS text
    FROM tailrace.fingerprints
    WHERE match(fingerprint, '^(/[*]m?![?]? ?)?(set\\b.*(server_audit|audit_log|general_log|log_output|log_bin|slow_query_log)|(un)?install (plugin|soname|component)|purge (binary|master)|flush .*logs)')
        OR match(fingerprint, 'audit_log_(filter|rotate|encryption)')
    GROUP BY query_id
)
SELECT event_time AS at, source AS seen_in, cluster, instance, user, client_host, client_ip,
    if(text != '', text, concat('record of the audit log itself: ', if(command != '', command, event_name))) AS what,
{%- include "parts/result.sql" -%}
 AS result,
    if(match(text, 'install plugin') AND NOT match(text, 'audit'), 'another plugin', 'auditing') AS concerns
FROM tailrace.audit_events
LEFT ANY JOIN changing ON changing.query_id = ifNull(audit_events.query_id, 0)
WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
    AND (text != '' AND event_class != 'table' OR event_class = 'server')
UNION ALL
SELECT event_time AS at, 'error log' AS seen_in, cluster, instance, '' AS user, '' AS client_host, '' AS client_ip,
    concat(kind, ': ', arrayStringConcat(mapValues(details), ' ')) AS what, '' AS result,
    multiIf(
        kind = 'server_state', 'start or end of the server',
        match(lower(concat(details['plugin'], ' ', message)), 'audit'), 'auditing',
        'another plugin') AS concerns
FROM tailrace.error_events
WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
    AND (kind = 'plugin_change' OR kind = 'server_state' AND details['state'] IN ('start', 'ready', 'shutdown'))
UNION ALL
SELECT toDateTime64(at, 6, 'UTC') AS at, 'look at the server' AS seen_in, cluster, instance, '' AS user, '' AS client_host,
    '' AS client_ip, concat(kind, ': ', key, ' ', change, arrayStringConcat(arrayMap(
        name -> concat(', ', name, ': ', before[name], ' → ', after[name]),
        arrayFilter(name -> before[name] != after[name],
            arraySort(arrayDistinct(arrayConcat(mapKeys(before), mapKeys(after)))))))) AS what,
    '' AS result, 'auditing' AS concerns
FROM tailrace.server_changes FINAL
WHERE at >= {from:DateTime('UTC')} AND at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
    AND (kind = 'audit' OR kind = 'settings' AND match(key, 'audit|general_log|log_output|log_bin|slow_query_log'))
ORDER BY at, instance, what
