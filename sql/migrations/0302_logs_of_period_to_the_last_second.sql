-- Replaces 0282: the rows of the last second before a bound count, also if no part has others (sql/README.md, *Bounds of times*).
CREATE OR REPLACE VIEW tailrace.logs_of_period {on_cluster}
SQL SECURITY INVOKER AS
WITH
    days AS (
        SELECT cluster, instance, source, log, maxIf(at, kind IN ('CENSUS', 'FRONTIER')) AS last_at,
            groupBitOrForEachIf(
                arrayPushBack(arrayWithConstant(toHour(at), toUInt64(0)), bitShiftLeft(toUInt64(1), toMinute(at))),
                kind IN ('CENSUS', 'FRONTIER')) AS hours
        FROM tailrace.ledger
        WHERE toDate(at) >= toDate({ period_from: DateTime('UTC') } - INTERVAL 7 DAY)
        GROUP BY cluster, instance, source, log, toDate(at)
    ),
    times AS (
        -- The last time before the end of the period; on a day with later ones its minute, by the bits before the end.
        SELECT cluster, instance, source, log, last_at,
            if(last_at < toDateTime64({ period_to: DateTime('UTC') }, 6, 'UTC'), last_at, toDateTime64(arrayMax(arrayMap(
                (bits, hour) -> if(bits = 0, 0, toUnixTimestamp(toStartOfDay(last_at)) + 3600 * hour + 60 * bitPositionsToArray(bits)[-1]),
                arrayMap(
                    (bits, hour) -> bitAnd(bits, bitShiftLeft(toUInt64(1), least(60, greatest(0, intDiv(
                        toInt64(toUnixTimestamp({ period_to: DateTime('UTC') })) - toUnixTimestamp(toStartOfDay(last_at)), 60)
                        - 60 * hour))) - 1),
                    hours, range(length(hours))),
                range(length(hours)))), 6, 'UTC')) AS last_before
        FROM days
    ),
    each_log AS (
        SELECT
            if(was_watched, argMaxIf(times.cluster, last_before,
                    last_before >= toDateTime64({ period_from: DateTime('UTC') }, 6, 'UTC') - INTERVAL 7 DAY),
                argMaxIf(times.cluster, last_at, last_at >= toDateTime64({ period_to: DateTime('UTC') }, 6, 'UTC'))) AS cluster,
            instance, source, log,
            toBool(max(last_before) >= toDateTime64({ period_from: DateTime('UTC') }, 6, 'UTC') - INTERVAL 7 DAY) AS was_watched,
            false AS is_entry, false AS was_removed
        FROM times
        GROUP BY instance, source, log
        HAVING was_watched OR max(last_at) >= toDateTime64({ period_to: DateTime('UTC') }, 6, 'UTC')
        UNION ALL
        SELECT argMax(hosts.cluster, last_at) AS cluster, instance, source, log, false AS was_watched, true AS is_entry,
            countIf(last_action = 'listed') = 0 AS was_removed
        FROM (
            -- The entries of listed_logs_of_period (0271). ClickHouse analyses a view within a view again each time.
            SELECT argMax(cluster, at) AS cluster, instance, source, log, argMax(action, at) AS last_action, max(at) AS last_at
            FROM tailrace.listed_logs
            WHERE at < toDateTime64({ period_to: DateTime('UTC') }, 6, 'UTC') AND source IN ('slowlog', 'audit', 'errorlog', 'general')
            GROUP BY instance, source, log, host
            HAVING countIf(action = 'listed' AND at >= toDateTime64({ period_from: DateTime('UTC') }, 6, 'UTC')) > 0
                OR argMaxIf(action, at, at < toDateTime64({ period_from: DateTime('UTC') }, 6, 'UTC')) = 'listed'
                    AND maxIf(at, at < toDateTime64({ period_from: DateTime('UTC') }, 6, 'UTC'))
                        >= toDateTime64({ period_from: DateTime('UTC') }, 6, 'UTC') - INTERVAL 7 DAY) AS hosts
        GROUP BY instance, source, log
    )
SELECT cluster, instance, source, log, was_watched
FROM (
    SELECT cluster, instance, source, log, was_watched, is_entry, was_removed,
        splitByRegexp('[*?\\[]', log)[1] AS begin_of_path,
        groupArrayIf(log, was_watched) OVER (PARTITION BY instance, source) AS watched,
        groupArrayIf(log, NOT is_entry) OVER (PARTITION BY instance, source) AS later,
        -- Logs that were first watched later count only if no log of their server and kind was watched, and records are stored.
        if(notEmpty(watched), watched, if((instance, source) IN (
            SELECT instance, source
            FROM tailrace.log_days
            WHERE record_day >= toDate({ period_from: DateTime('UTC') })
                AND record_day <= toDate({ period_to: DateTime('UTC') } - INTERVAL 1 SECOND)), later, [])) AS arrived
    FROM each_log)
WHERE if(is_entry, NOT arrayExists(
    each -> was_removed OR if(log != '' AND log = begin_of_path, each = log, startsWith(each, begin_of_path)), arrived),
    has(arrived, log))
COMMENT 'Logs whose minutes in a period are expected to be known. was_watched: with a census or a line until the end of the period'
