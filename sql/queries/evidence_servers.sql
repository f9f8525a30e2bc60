-- Each server with a census, a snapshot or a stored record until the end of the period, or that sources.yaml listed in the period,
-- and its audit status in the period, the worst one that applies: `no audit log`, `listed audit log never arrived` (nothing of it
-- was ever received), `audit log not seen in the period`, `audit log read later, on …: records of …` (it was not watched in the period, and its events of the
-- period are stored: whether all of them are is unknown), `auditing was off` according to a snapshot, `auditing was changed` if snapshots or statements
-- show changes of its switches and filters, `audit log watched since …` and `audit log watched until …` if its audit log was first or
-- last seen within the period, else `audited`. Records before the first time, which were read later, are stated with their first day. A general log counts for servers that never had an audit log. The coverage
-- shows whether every minute was read: a log that is switched off is covered, but contains nothing. `records_read_at` is the
-- time at which the first record of a log that was read later was stored. `listed_since` and `removed_from_list_at` are the
-- times since when and until when the list contained any log of the server; NULL if no host recorded them. Changes of auditing are unknown (NULL) for a server
-- without a snapshot and without an audit log.
-- Parameters: from, to.
WITH
    seen AS (
        -- Each branch is answered by a projection of the ledger, except for the hour of the end.
        SELECT instance, source, min(first) AS first_at, max(last) AS last_at, last_at >= {from:DateTime('UTC')} AS in_period
        FROM (
            SELECT instance, source, min(at) AS first, toDateTime64(0, 6, 'UTC') AS last
            FROM tailrace.ledger
            WHERE kind IN ('CENSUS', 'FRONTIER')
            GROUP BY instance, source, kind
            UNION ALL
            SELECT instance, source, toDateTime64('2100-01-01 00:00:00', 6, 'UTC'), max(at)
            FROM tailrace.ledger
            WHERE kind IN ('CENSUS', 'FRONTIER') AND toStartOfHour(at) < toStartOfHour({to:DateTime('UTC')})
            GROUP BY instance, source, kind
            UNION ALL
            SELECT instance, source, toDateTime64('2100-01-01 00:00:00', 6, 'UTC'), max(at)
            FROM tailrace.ledger
            WHERE kind IN ('CENSUS', 'FRONTIER') AND at >= toStartOfHour({to:DateTime('UTC')}) AND at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
            GROUP BY instance, source, kind)
        GROUP BY instance, source
        HAVING first_at < {to:DateTime('UTC')}
    ),
    snapshots AS (
        SELECT instance, argMax(product, at) AS product, argMax(version, at) AS version, max(at) AS snapshot_at
        FROM tailrace.server_snapshots
        WHERE at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        GROUP BY instance
    ),
    reported AS (
        SELECT instance, argMaxIf(attributes['active'], last_seen, kind = 'audit') AS active,
            argMaxIf(attributes['by'], last_seen, kind = 'audit') AS plugin,
            max(kind = 'audit' AND attributes['active'] = 'no' AND last_seen >= {from:DateTime('UTC')}) AS was_off,
            argMaxIf(attributes['value'], last_seen, kind = 'settings') AS general_log,
            max(kind = 'settings' AND upper(attributes['value']) IN ('OFF', '0')
                AND last_seen >= {from:DateTime('UTC')}) AS general_log_was_off
        FROM tailrace.server_facts
        WHERE (kind = 'audit' AND key = 'auditing' OR kind = 'settings' AND key = 'general_log')
            AND since < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        GROUP BY instance
    ),
    switching AS (
        SELECT DISTINCT query_id FROM tailrace.fingerprints
        WHERE match(fingerprint, '^(/[*]m?![?]? ?)?(set\\b.*(server_audit|audit_log|general_log|log_output|sql_log_off)|(un)?install (plugin .*audit|soname|component))')
            OR match(fingerprint, 'audit_log_filter_(set|remove)_')
    ),
    changes AS (
        SELECT instance, count() AS times
        FROM (
            SELECT instance FROM tailrace.server_changes FINAL
            WHERE at >= {from:DateTime('UTC')} AND at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
                AND (kind = 'audit' OR kind = 'settings' AND match(key, 'audit|general_log|log_output'))
            UNION ALL
            SELECT instance FROM tailrace.audit_events
            WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC') AND event_class != 'table'
                AND ifNull(query_id, 0) IN switching AND event_outcome != 'failure')
        GROUP BY instance
    ),
    later AS (
        SELECT instance, min(ingested_at) AS records_read_at, min(event_time) AS first_record, max(event_time) AS last_record,
            arrayStringConcat(arraySort(groupUniqArray(toString(source))), ', ') AS later_sources
        FROM tailrace.audit_events
        WHERE event_time >= {from:DateTime('UTC')} AND event_time < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
            -- ClickHouse 26.7 refuses NOT IN (SELECT …) on several shards here ("Invalid local IN function name globalNotIn").
            AND NOT has((SELECT groupUniqArray(toString(instance)) FROM seen WHERE source IN ('audit', 'general') AND in_period), toString(instance))
        GROUP BY instance
    ),
    listed AS (
        SELECT instance, max(source IN ('audit', 'general')) AS is_audit_log_listed, min(listed_logs.listed_since) AS since,
            if(countIf(isNull(listed_logs.removed_at)) > 0, NULL, max(listed_logs.removed_at)) AS removed_from_list
        FROM tailrace.listed_logs_of_period(
            period_from = {from:DateTime('UTC')}, period_to = {to:DateTime('UTC')}) AS listed_logs
        GROUP BY instance
    ),
    servers AS (
        SELECT instance FROM seen UNION DISTINCT SELECT instance FROM snapshots UNION DISTINCT
        SELECT instance FROM listed UNION DISTINCT
        SELECT instance FROM tailrace.log_days WHERE record_day <= toDate({to:DateTime('UTC')} - INTERVAL 1 SECOND)
    ),
    audit AS (
        SELECT instance, arrayStringConcat(arraySort(groupArray(source)), ', ') AS sources, min(source) AS counts,
            argMin(seen.first_at, source) AS first_at, argMin(seen.last_at, source) AS last_at,
            argMin(seen.in_period, source) AS in_period
        FROM seen WHERE source IN ('audit', 'general')
        GROUP BY instance
    ),
    records AS (
        SELECT instance, source, min(record_day) AS first_day FROM tailrace.log_days
        WHERE source IN ('audit', 'general')
        GROUP BY instance, source
    )
SELECT
    servers.instance AS instance,
    multiIf(
        ifNull(audit.in_period, 0) = 0 AND later.instance != '',
            concat('audit log read later, on ', formatDateTime(records_read_at, '%F %H:%i'), ' UTC: records of ',
                toString(toDate(first_record)), if(toDate(last_record) = toDate(first_record), '', concat(' to ', toString(toDate(last_record))))),
        audit.instance = '' AND listed.is_audit_log_listed, 'listed audit log never arrived',
        audit.instance = '', 'no audit log',
        audit.in_period = 0, 'audit log not seen in the period',
        counts = 'audit' AND (was_off OR reported.active = 'no')
            OR counts = 'general' AND (general_log_was_off OR upper(general_log) IN ('OFF', '0')),
            'auditing was off',
        changes.times > 0, 'auditing was changed',
        audit.first_at >= {from:DateTime('UTC')} + INTERVAL 1 MINUTE,
            concat('audit log watched since ', formatDateTime(audit.first_at, '%F %H:%i'), ' UTC',
                if(records.instance != '' AND records.first_day < toDate(audit.first_at), concat(', records from ', toString(records.first_day)), '')),
        audit.last_at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC') - INTERVAL 2 MINUTE,
            concat('audit log watched until ', formatDateTime(audit.last_at, '%F %H:%i'), ' UTC'),
        'audited') AS state,
    if(audit.sources = '', later.later_sources, audit.sources) AS audit_sources,
    if(audit.instance = '', NULL, toDateTime(audit.first_at, 'UTC')) AS audit_first_seen,
    if(audit.instance = '', NULL, toDateTime(audit.last_at, 'UTC')) AS audit_last_seen,
    snapshots.product AS product, snapshots.version AS server_version,
    if(reported.active = '', 'not asked', reported.active) AS server_says_it_audits, reported.plugin AS audits_with,
    if(changes.times = 0 AND reported.active = '' AND audit.instance = '' AND later.instance = '', NULL, changes.times)
        AS changes_of_auditing,
    if(later.instance = '', NULL, later.records_read_at) AS records_read_at,
    if(listed.instance = '', NULL, listed.since) AS listed_since,
    if(listed.instance = '', NULL, listed.removed_from_list) AS removed_from_list_at
FROM servers
LEFT JOIN later ON later.instance = servers.instance
LEFT JOIN listed ON listed.instance = servers.instance
LEFT JOIN audit ON audit.instance = servers.instance
LEFT JOIN records ON records.instance = audit.instance AND records.source = audit.counts
LEFT JOIN snapshots ON snapshots.instance = servers.instance
LEFT JOIN reported ON reported.instance = servers.instance
LEFT JOIN changes ON changes.instance = servers.instance
ORDER BY state NOT IN ('no audit log', 'listed audit log never arrived'), instance
