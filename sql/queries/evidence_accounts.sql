{%- include "parts/client.sql" -%}
-- Accounts and roles in the last successful snapshot before the end of the period, with their privileges and their last
-- use in any log before that end. `last_use` counts for every account of that name whose host pattern matches the
-- client: if several match, logs do not show which one the server used. A host name matches every address if the log
-- contains no name. Whole days are read from projections, the last day from its rows. Where `pseudonyms_in_logs` is `yes`, users
-- are stored as pseudonyms (docs/ERASURE.md): an account may have been used later than `last_use`, also if this is empty.
-- A login that failed, or whose result the log does not contain, does not count as a use or as a pseudonym, because a stranger
-- chooses its name.
-- Parameters: to.
WITH
    snapshots AS (
        SELECT instance, kind, max(at) AS snapshot_at FROM tailrace.server_snapshots
        WHERE status = 'ok' AND at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC') GROUP BY instance, kind
    ),
    held AS (
        SELECT cluster, facts.instance AS instance, facts.kind AS kind, key, since, attributes
        FROM tailrace.server_facts AS facts FINAL
        INNER JOIN snapshots ON snapshots.instance = facts.instance AND snapshots.kind = facts.kind
        WHERE facts.since < toDateTime64({to:DateTime('UTC')}, 6, 'UTC') AND facts.last_seen >= snapshots.snapshot_at
    ),
    rights AS (
        SELECT instance, attributes['grantee'] AS grantee,
            arrayStringConcat(arraySort(groupArray(concat(attributes['privileges'], ' on ', attributes['object'],
                if(attributes['grant_option'] = 'yes', ' with grant option', '')))), '; ') AS privileges
        FROM held WHERE startsWith(kind, 'grants') GROUP BY instance, grantee
    ),
    used AS (
        SELECT instance, user, {{ client_host() }} AS client_host, {{ client_ip() }} AS client_ip, max(at) AS last_at
        FROM (
            SELECT instance, user, host, ip, max(event_time) AS at FROM tailrace.audit_events
            WHERE toDate(event_time) < toDate({to:DateTime('UTC')}) AND is_account_use
            GROUP BY instance, user, host, ip
            UNION ALL
            SELECT instance, user, host, ip, max(event_time) AS at FROM tailrace.audit_events
            WHERE event_time >= toStartOfDay({to:DateTime('UTC')}) AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
                AND is_account_use
            GROUP BY instance, user, host, ip
            UNION ALL
            SELECT instance, user, host, ip, max(event_time) AS at FROM tailrace.query_events
            WHERE toDate(event_time) < toDate({to:DateTime('UTC')}) GROUP BY instance, user, host, ip
            UNION ALL
            SELECT instance, user, host, ip, max(event_time) AS at FROM tailrace.query_events
            WHERE event_time >= toStartOfDay({to:DateTime('UTC')}) AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
            GROUP BY instance, user, host, ip)
        GROUP BY instance, user, client_host, client_ip
    ),
    logs_with_pseudonyms AS (
        SELECT instance FROM tailrace.audit_events
        WHERE match(user, '^p1-user-[0-9a-f]+$') AND is_account_use
        GROUP BY instance HAVING min(event_time) < {to:DateTime('UTC')}
        UNION ALL
        SELECT instance FROM tailrace.query_events WHERE match(user, '^p1-user-[0-9a-f]+$')
        GROUP BY instance HAVING min(event_time) < {to:DateTime('UTC')}
    ),
    accounts AS (
        SELECT cluster, instance, key AS account, attributes['user'] AS name, lower(attributes['host']) AS pattern,
            attributes, since
        FROM held WHERE kind = 'accounts'
    )
SELECT
    accounts.cluster AS cluster, accounts.instance AS instance, accounts.account AS account,
    if(any(attributes['role']) = 'yes', 'role', 'account') AS kind, any(attributes['locked']) AS locked,
    any(attributes['password']) AS password, any(attributes['password_changed_at']) AS password_changed_at,
    any(attributes['plugin']) AS authentication, any(attributes['tls']) AS tls_required,
    toDateTime(any(since), 'UTC') AS so_since,
    maxOrNullIf(toDateTime(last_at, 'UTC'), last_at > 0 AND (client_host = '' AND client_ip = '' OR pattern IN ('', '%')
        OR position(pattern, '/') > 0
        OR like(lower(client_host), pattern) OR like(lower(client_ip), pattern)
        OR pattern = 'localhost' AND client_ip IN ('127.0.0.1', '::1')
        OR pattern != 'localhost' AND match(pattern, '[g-z]') AND NOT match(lower(client_host), '[g-z]'))) AS last_use,
    dateDiff('day', last_use, {to:DateTime('UTC')}) AS days_unused,
    if(instance IN logs_with_pseudonyms, 'yes', 'no') AS pseudonyms_in_logs,
    any(rights.privileges) AS privileges
FROM accounts
LEFT JOIN rights ON rights.instance = accounts.instance AND rights.grantee = accounts.account
LEFT JOIN used ON used.instance = accounts.instance AND used.user = accounts.name
GROUP BY cluster, instance, account
ORDER BY instance, account
