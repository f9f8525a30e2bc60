-- Per server whose auditing capture has read: whether it audits (`active`: yes, no, unknown), since when, and the times of its
-- last audit event and of its last statement that it should have audited, in seconds since 1970 UTC; 0 for none in the last day.
-- `writes_all`: every statement is audited, apart from those of excluded users. Otherwise a statement without an audit event
-- proves nothing. Statements are those in the slow log, in the general log and in counters of digests, which have no user and
-- therefore count only if no user is excluded.
-- Parameters: now.
WITH
    facts AS (
        SELECT instance, kind, key, since, attributes
        FROM tailrace.server_facts_current
        WHERE kind = 'audit' OR kind = 'settings' AND (key LIKE 'server_audit%' OR key LIKE 'audit_log%')
    ),
    snapshots AS (
        SELECT instance, argMax(status, at) AS last_status, toUnixTimestamp(max(at)) AS snapshot_at
        FROM tailrace.server_snapshots
        WHERE kind = 'audit' AND at > toDateTime64({now:DateTime('UTC')}, 6, 'UTC') - INTERVAL 1 DAY
        GROUP BY instance
    ),
    auditing AS (
        SELECT
            instance,
            anyIf(attributes['active'], key = 'auditing') AS active,
            toUnixTimestamp(max(facts.since)) AS settings_since,
            arrayFilter(name -> name != '', arrayMap(name -> trimBoth(name), splitByChar(',', lower(anyIf(attributes['value'], key = 'server_audit_excl_users'))))) AS excluded,
            upper(anyIf(attributes['value'], key = 'server_audit_events')) AS events,
            (events = '' OR has(arrayMap(name -> trimBoth(name), splitByChar(',', events)), 'QUERY'))
                AND anyIf(upper(attributes['value']), key = 'audit_log_policy') IN ('', 'ALL', 'QUERIES')
                AND countIf(attributes['value'] != '' AND match(key,
                    '^(server_audit_incl_users|audit_log_(include|exclude)_(accounts|databases|commands))$')) = 0
                AND countIf(kind = 'audit' AND key LIKE 'filter %' AND mapContains(attributes, 'filter')
                    AND replaceRegexpAll(attributes['filter'], '\\s', '') != '{"filter":{"log":true}}') = 0 AS writes_all
        FROM facts
        GROUP BY instance
    ),
    audited AS (
        SELECT instance, toUnixTimestamp(max(event_time)) AS last_at
        FROM tailrace.audit_events
        WHERE source = 'audit' AND event_time > toDateTime64({now:DateTime('UTC')}, 6, 'UTC') - INTERVAL 1 DAY
            AND event_time < toDateTime64({now:DateTime('UTC')}, 6, 'UTC') + INTERVAL 1 HOUR
        GROUP BY instance
    ),
    statements AS (
        SELECT instance, user, toUnixTimestamp(max(minute)) AS last_at
        FROM tailrace.query_load_1m
        WHERE minute > {now:DateTime('UTC')} - INTERVAL 1 DAY AND minute < {now:DateTime('UTC')} + INTERVAL 1 HOUR
        GROUP BY instance, user
        UNION ALL
        SELECT instance, user, toUnixTimestamp(max(event_time))
        FROM tailrace.audit_events
        WHERE source = 'general' AND event_class = 'query' AND event_time > toDateTime64({now:DateTime('UTC')}, 6, 'UTC') - INTERVAL 1 DAY
            AND event_time < toDateTime64({now:DateTime('UTC')}, 6, 'UTC') + INTERVAL 1 HOUR
        GROUP BY instance, user
        UNION ALL
        SELECT instance, NULL, toUnixTimestamp(max(at))
        FROM tailrace.digest_load_1m
        WHERE at > toDateTime64({now:DateTime('UTC')}, 6, 'UTC') - INTERVAL 1 DAY AND at < toDateTime64({now:DateTime('UTC')}, 6, 'UTC') + INTERVAL 1 HOUR AND statements > 0
        GROUP BY instance
    ),
    executed AS (
        SELECT instance, maxIf(statements.last_at, if(isNull(user), empty(excluded), NOT has(excluded, lower(assumeNotNull(user))))) AS last_at
        FROM statements
        INNER JOIN auditing USING (instance)
        GROUP BY instance
    )
SELECT
    auditing.instance AS instance,
    if(last_status = 'ok' AND snapshot_at > toUnixTimestamp({now:DateTime('UTC')}) - 7200, active, 'unknown') AS active,
    settings_since, writes_all,
    audited.last_at AS audited_at,
    executed.last_at AS executed_at
FROM auditing
LEFT JOIN snapshots ON snapshots.instance = auditing.instance
LEFT JOIN audited ON audited.instance = auditing.instance
LEFT JOIN executed ON executed.instance = auditing.instance
WHERE active != ''
ORDER BY instance
