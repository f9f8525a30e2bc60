-- The logs of which a period is expected to be known, also if nothing of it is: those with a census or a line in the period or
-- the week before (a log without any row for a week is considered retired), and those that were first watched later, if records
-- of the period are stored. `was_watched` is 0 for the latter: all their minutes are unknown. All minutes of the period are
-- expected of each log. A log that moved to another cluster has one row. The parameters are whole minutes UTC, the end
-- exclusive. They are written with a blank, because `migrate` replaces names in braces without one.
CREATE VIEW IF NOT EXISTS tailrace.logs_of_period {on_cluster}
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
    )
SELECT cluster, instance, source, log, true AS was_watched
FROM watched
UNION ALL
SELECT argMax(ledger.cluster, at) AS cluster, instance, source, log, false AS was_watched
FROM tailrace.ledger
WHERE kind IN ('CENSUS', 'FRONTIER') AND at >= { period_to: DateTime('UTC') }
    AND (instance, source) IN (SELECT instance, source FROM read_later)
GROUP BY instance, source, log
COMMENT 'Logs whose minutes in a period are expected to be known. was_watched: with a census or a line until the end of the period'
