    administrators AS (
        SELECT DISTINCT instance,
            replaceAll(extract(attributes['grantee'], '^\'((?:[^\']|\'\')*)\''), '\'\'', '\'') AS name
        FROM tailrace.server_facts FINAL
        WHERE kind = 'grants_global' AND since < {to:DateTime('UTC')} AND last_seen >= {from:DateTime('UTC')}
            AND (attributes['grant_option'] = 'yes'
                OR match(attributes['privileges'], 'ALL PRIVILEGES|SUPER|CREATE USER|SHUTDOWN|RELOAD|PROCESS|FILE|_ADMIN| ADMIN|SYSTEM_USER|CREATE ROLE|DROP ROLE|SET USER'))
    ),
