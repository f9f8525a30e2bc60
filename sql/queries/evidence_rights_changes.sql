-- Changes of accounts and privileges: statements in audit logs with user and outcome, and differences between two
-- snapshots of a server. A difference that a statement explains is no row of its own: `confirmed_by` of the statement names it. A
-- statement explains a difference if it succeeded between the two snapshots, names the account and does what the difference shows:
-- the grant of its privileges on its object, or the creation, change or removal of the account. A change that only a snapshot
-- shows bypassed the audit log or used other statements.
-- Columns and values of the evidence stay as they were, because scripts of auditors read them.
-- Parameters: from, to.
WITH
    -- A scalar is read once, a named subquery for each of its uses.
    (
        SELECT groupArray((at, cluster, instance, user, host, ip, program, operation, outcome))
        FROM tailrace.privilege_changes
        WHERE recorded_by = 'audit log' AND at >= {from:DateTime('UTC')} - INTERVAL 1 DAY AND at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
    ) AS all_statements,
    statements AS (
        SELECT each.1 AS at, each.2 AS cluster, each.3 AS instance, each.4 AS user, each.5 AS host, each.6 AS ip,
            each.7 AS program, each.8 AS operation, each.9 AS outcome
        FROM (SELECT arrayJoin(all_statements) AS each)
    ),
    differences AS (
        SELECT toDateTime64(server_changes.at, 6, 'UTC') AS at, cluster, instance, kind, key, change, before, after,
            replaceAll(extract(key, '^\'[^\']*\'@\'[^\']*\''), '\'', '`') AS account,
            if(change = 'removed', before, after) AS attributes,
            lower(replaceAll(attributes['object'], '`', '')) AS object,
            arrayMap(each -> lower(each), arrayFilter(
                each -> each != '' AND (change != 'changed' OR NOT has(splitByString(', ', before['privileges']), each)),
                splitByString(', ', attributes['privileges']))) AS privileges
        FROM tailrace.server_changes FINAL
        WHERE (kind IN ('accounts', 'roles') OR startsWith(kind, 'grants'))
            AND server_changes.at >= {from:DateTime('UTC')} - INTERVAL 1 DAY AND server_changes.at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC') + INTERVAL 1 DAY
    ),
    looks AS (
        SELECT instance, toDateTime64(server_snapshots.at, 6, 'UTC') AS looked_at FROM tailrace.server_snapshots
        WHERE kind = 'accounts' AND status = 'ok' AND server_snapshots.at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC') + INTERVAL 1 DAY
    ),
    explained AS (
        SELECT later.instance AS instance, kind, key, later.at AS seen_at, statements.at AS done_at, statements.operation AS operation
        FROM (
            SELECT differences.*, looks.looked_at AS previous_look
            FROM differences ASOF JOIN looks ON looks.instance = differences.instance AND looks.looked_at < differences.at
            WHERE account != ''
        ) AS later
        INNER JOIN (
            SELECT instance, at, operation, arrayJoin(extractAll(operation, '`[^`]*`@`[^`]*`')) AS account
            FROM statements WHERE outcome = 'success'
        ) AS statements ON statements.instance = later.instance AND statements.account = later.account
        WHERE statements.at <= later.at AND statements.at >= previous_look AND multiIf(
            kind = 'accounts', match(operation, transform(change,
                ['added', 'removed'], ['^create (or replace )?user ', '^drop user '], '^(alter user|set password) ')),
            startsWith(kind, 'grants'),
                match(operation, transform(change, ['added', 'removed'], ['^grant ', '^revoke '], '^(grant|revoke) '))
                AND object != '' AND position(concat(replaceAll(operation, '`', ''), ' '), concat(' ', object, ' ')) > 0
                AND (match(operation, '^(grant|revoke) all ')
                    OR notEmpty(privileges) AND arrayAll(each -> match(operation, concat('[ ,]', regexpQuoteMeta(each), '[ ,(]')), privileges)),
            false)
    )
SELECT * FROM (
SELECT at, 'audit log' AS seen_by, cluster, instance, user, host AS client_host, ip AS client_ip, program AS client_program,
    operation AS change, outcome AS result,
    if((instance, at, operation) IN (SELECT instance, done_at, operation FROM explained), 'look at the server', '') AS confirmed_by
FROM statements
WHERE at >= {from:DateTime('UTC')}
UNION ALL
SELECT at, 'look at the server' AS seen_by, cluster, instance, '' AS user, '' AS client_host, '' AS client_ip, '' AS client_program,
    concat(kind, ': ', key, ' ', differences.change, arrayStringConcat(arrayMap(
        name -> concat(', ', name, ': ', multiIf(
            differences.change = 'added', after[name], differences.change = 'removed', before[name],
            concat(before[name], ' → ', after[name]))),
        arrayFilter(
            name -> before[name] != after[name] AND (differences.change = 'changed'
                OR attributes[name] NOT IN ('no', 'none') AND name NOT IN ('user', 'host', 'grantee', 'level', 'object')),
            arraySort(arrayDistinct(arrayConcat(mapKeys(before), mapKeys(after)))))))) AS change,
    'success' AS result, '' AS confirmed_by
FROM differences
WHERE at >= {from:DateTime('UTC')} AND at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
    AND (instance, kind, key, at) NOT IN (SELECT instance, kind, key, seen_at FROM explained)
)
ORDER BY at, instance, change
