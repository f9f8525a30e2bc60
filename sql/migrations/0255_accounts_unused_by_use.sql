-- Replaces 0228: a login in a general log, whose result the log does not contain, is no use of an account (0250).
CREATE OR REPLACE VIEW tailrace.accounts_unused {on_cluster}
SQL SECURITY INVOKER AS
WITH
    used AS (
        SELECT instance, user, host, ip, max(at) AS last_at
        FROM (
            SELECT instance, user, host, ip, max(event_time) AS at FROM tailrace.audit_events
            WHERE is_account_use GROUP BY instance, user, host, ip
            UNION ALL
            SELECT instance, user, host, ip, max(event_time) AS at FROM tailrace.query_events
            GROUP BY instance, user, host, ip)
        GROUP BY instance, user, host, ip
    ),
    reach AS (
        SELECT instance, min(at) AS logs_since
        FROM (
            SELECT instance, min(event_time) AS at FROM tailrace.audit_events GROUP BY instance
            UNION ALL
            SELECT instance, min(event_time) AS at FROM tailrace.query_events GROUP BY instance)
        GROUP BY instance
    ),
    logs_with_pseudonyms AS (
        SELECT instance FROM tailrace.audit_events
        WHERE match(user, '^p1-user-[0-9a-f]+$') AND is_account_use GROUP BY instance
        UNION ALL
        SELECT instance FROM tailrace.query_events WHERE match(user, '^p1-user-[0-9a-f]+$') GROUP BY instance
    ),
    accounts AS (
        SELECT cluster, instance, key AS account, attributes['user'] AS user, replaceRegexpOne(lower(attributes['host']), '(\\\\+)$', '') AS pattern,
            attributes['locked'] AS locked, attributes['password'] AS password, since AS known_since
        FROM tailrace.server_facts_current
        WHERE kind = 'accounts' AND attributes['role'] != 'yes'
    )
SELECT
    cluster, instance, account,
    multiIf(
        any(accounts.user) = '' OR toUnixTimestamp(any(logs_since)) = 0 OR instance IN logs_with_pseudonyms, 'not known',
        last_use IS NULL AND any(logs_since) > now('UTC') - INTERVAL 90 DAY, 'not known',
        last_use IS NULL, 'never used',
        'not for 90 days') AS state,
    maxOrNullIf(last_at, last_at > 0 AND (host = '' AND ip = '' OR pattern IN ('', '%') OR position(pattern, '/') > 0
        OR like(lower(host), pattern) OR like(lower(ip), pattern)
        OR pattern = 'localhost' AND (ip IN ('127.0.0.1', '::1') OR host IN ('127.0.0.1', '::1'))
        OR pattern != 'localhost' AND match(pattern, '[g-z]') AND NOT match(lower(host), '[g-z]'))) AS last_use,
    any(logs_since) AS logs_reach_back_to,
    any(accounts.locked) AS locked, any(accounts.password) AS password, any(accounts.known_since) AS known_since
FROM accounts
LEFT JOIN used ON used.instance = accounts.instance AND used.user = accounts.user
LEFT JOIN reach ON reach.instance = accounts.instance
GROUP BY cluster, accounts.instance AS instance, account
HAVING last_use IS NULL OR last_use < now('UTC') - INTERVAL 90 DAY
COMMENT 'Accounts that no log has seen used, or not for 90 days, and not known where the logs do not reach back so far'
