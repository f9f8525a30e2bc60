-- Replaces 0212: also has the logs that sources.yaml listed in the period (0271) and of which no log with a census, a line or
-- a stored record is in the list already: all minutes of a listed log that sent nothing are unknown. A path is that log, and a
-- pattern or an empty path any log that begins with the text before its first wildcard. An entry that was removed in the period
-- is left out if another log of its server and kind has arrived: a wrong path that was corrected is no second log.
CREATE OR REPLACE VIEW tailrace.logs_of_period {on_cluster}
SQL SECURITY INVOKER AS
WITH
    watched AS (
        SELECT argMax(ledger.cluster, at) AS cluster, instance, source, log
        FROM tailrace.ledger
        WHERE kind IN ('CENSUS', 'FRONTIER')
            AND at >= { period_from: DateTime('UTC') } - INTERVAL 7 DAY AND at < { period_to: DateTime('UTC') }
        GROUP BY instance, source, log
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
        SELECT argMax(ledger.cluster, at) AS cluster, instance, source, log, false AS was_watched, false AS is_entry,
            false AS was_removed
        FROM tailrace.ledger
        WHERE kind IN ('CENSUS', 'FRONTIER') AND at >= { period_to: DateTime('UTC') }
            AND (instance, source) IN (SELECT instance, source FROM read_later)
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
