-- Replaces 0272: the same rows. The logs that were watched are read once, and from a projection: before, each census of the period
-- and of a week before it was read twice, which took longer than to judge all its minutes.
CREATE OR REPLACE VIEW tailrace.logs_of_period {on_cluster}
SQL SECURITY INVOKER AS
WITH
    -- Whole hours are answered by the projection sizes_by_hour, the hour in which the period ends by its rows.
    (
        SELECT groupArray((cluster, instance, source, log)) FROM (
            SELECT argMax(hourly.cluster, last_at) AS cluster, instance, source, log
            FROM (
                SELECT cluster, instance, source, log, max(at) AS last_at
                FROM tailrace.ledger
                WHERE kind IN ('CENSUS', 'FRONTIER')
                    AND toStartOfHour(at) >= toStartOfHour({ period_from: DateTime('UTC') } - INTERVAL 7 DAY)
                    AND toStartOfHour(at) < toStartOfHour({ period_to: DateTime('UTC') })
                GROUP BY cluster, instance, source, log, kind, toStartOfHour(at)
                HAVING last_at >= { period_from: DateTime('UTC') } - INTERVAL 7 DAY
                UNION ALL
                SELECT cluster, instance, source, log, max(at) AS last_at
                FROM tailrace.ledger
                WHERE kind IN ('CENSUS', 'FRONTIER')
                    AND at >= greatest(toStartOfHour({ period_to: DateTime('UTC') }), { period_from: DateTime('UTC') } - INTERVAL 7 DAY)
                    AND at < { period_to: DateTime('UTC') }
                GROUP BY cluster, instance, source, log) AS hourly
            GROUP BY instance, source, log)
    ) AS watched_logs,
    watched AS (
        SELECT watched_log.1 AS cluster, watched_log.2 AS instance, watched_log.3 AS source, watched_log.4 AS log
        FROM (SELECT arrayJoin(watched_logs) AS watched_log)
    ),
    read_later AS (
        SELECT instance, source
        FROM tailrace.log_days
        WHERE record_day >= toDate({ period_from: DateTime('UTC') })
            AND record_day <= toDate({ period_to: DateTime('UTC') } - INTERVAL 1 SECOND)
            AND (instance, source) NOT IN (SELECT instance, source FROM watched)
        GROUP BY instance, source
    ),
    each_log AS (
        SELECT cluster, instance, source, log, true AS was_watched, false AS is_entry, false AS was_removed
        FROM watched
        UNION ALL
        SELECT argMax(later.cluster, last_at) AS cluster, instance, source, log, false AS was_watched, false AS is_entry,
            false AS was_removed
        FROM (
            SELECT cluster, instance, source, log, max(at) AS last_at
            FROM tailrace.ledger
            WHERE kind IN ('CENSUS', 'FRONTIER') AND toStartOfHour(at) >= toStartOfHour({ period_to: DateTime('UTC') })
                AND (instance, source) IN (SELECT instance, source FROM read_later)
            GROUP BY cluster, instance, source, log, kind, toStartOfHour(at)
            HAVING last_at >= { period_to: DateTime('UTC') }) AS later
        GROUP BY instance, source, log
        UNION ALL
        SELECT cluster, instance, source, log, false AS was_watched, true AS is_entry, isNotNull(removed_at) AS was_removed
        FROM tailrace.listed_logs_of_period(
            period_from = { period_from: DateTime('UTC') }, period_to = { period_to: DateTime('UTC') })
        WHERE source IN ('slowlog', 'audit', 'errorlog', 'general')
    )
SELECT cluster, instance, source, log, was_watched
FROM (
    SELECT cluster, instance, source, log, was_watched, is_entry, was_removed,
        splitByRegexp('[*?\\[]', log)[1] AS begin_of_path,
        groupArrayIf(log, NOT is_entry) OVER (PARTITION BY instance, source) AS arrived
    FROM each_log)
WHERE NOT is_entry OR NOT arrayExists(
    each -> was_removed OR if(log != '' AND log = begin_of_path, each = log, startsWith(each, begin_of_path)), arrived)
COMMENT 'Logs whose minutes in a period are expected to be known. was_watched: with a census or a line until the end of the period'
