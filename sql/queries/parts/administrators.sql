    administrators AS (
        SELECT DISTINCT instance,
            replaceAll(extract(attributes['grantee'], '^\'((?:[^\']|\'\')*)\''), '\'\'', '\'') AS name
        FROM tailrace.server_facts AS facts FINAL
        LEFT JOIN (
            SELECT instance, max(at) AS snapshot_at FROM tailrace.server_snapshots
            WHERE kind = 'grants_global' AND status = 'ok' AND at <= {from:DateTime('UTC')}
            GROUP BY instance) AS last_before USING instance
        -- Grants of the last snapshot before the period hold until a later one, which may come after the period.
        WHERE kind = 'grants_global' AND since < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
            AND last_seen >= if(toUnixTimestamp(snapshot_at) = 0, {from:DateTime('UTC')}, snapshot_at)
            AND (attributes['grant_option'] = 'yes'
                OR match(attributes['privileges'], 'ALL PRIVILEGES|SUPER|CREATE USER|SHUTDOWN|RELOAD|PROCESS|FILE|_ADMIN| ADMIN|SYSTEM_USER|CREATE ROLE|DROP ROLE|SET USER'))
    ),
