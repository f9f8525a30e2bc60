{%- include "parts/utc.sql" -%}
-- Unread bytes of each file per minute: its size minus its frontier. For ranges over eight hours, the maximum of each
-- longer interval. The frontier of a minute is the highest one up to its end. Census rows before the first line of a
-- file have no generation; such a minute belongs to the next generation of the inode.
--
-- Logs are numbered by a hash: months contain millions of minutes, which would otherwise be sorted by strings.
WITH
    {{ utc(from_dttm) if from_dttm else "now('UTC') - INTERVAL 1 DAY" }} AS range_start,
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    (
        SELECT min(at) FROM tailrace.ledger WHERE kind = 'CENSUS' AND at >= range_start AND at < toDateTime64(range_end, 6, 'UTC')
    ) AS first_census,
    dateDiff('second', first_census, least(range_end, now('UTC'))) AS shown,
    arrayFirst(each -> 500 * each >= shown OR each = 86400, [60, 300, 600, 1800, 3600, 2 * 3600, 6 * 3600, 86400]) AS width,
    postings AS (
        -- For the time before the range only the frontier of each generation is needed: one row each instead of one per minute.
        SELECT
            cityHash64(instance, source, log) AS log_id, inode, generation,
            intDiv(toUnixTimestamp(greatest(at, range_start - INTERVAL 1 MINUTE)), 60) AS minute,
            countIf(kind = 'CENSUS') AS census_rows,
            max(ledger.size) AS size,
            max(to_offset) AS read
        FROM tailrace.ledger
        WHERE kind IN ('CENSUS', 'FRONTIER') AND at >= range_start - INTERVAL 7 DAY AND at < toDateTime64(range_end, 6, 'UTC')
        GROUP BY log_id, inode, generation, minute
    ),
    matched AS (
        SELECT *, ifNull(min(nullIf(generation, 0)) OVER (
            PARTITION BY log_id, inode ORDER BY minute DESC, generation DESC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), 0) AS known_generation
        FROM postings
    ),
    minutes AS (
        SELECT
            log_id, known_generation, minute,
            sum(census_rows) AS all_census_rows, max(matched.size) AS size,
            max(max(read)) OVER (
                PARTITION BY log_id, known_generation ORDER BY minute
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS frontier
        FROM matched
        GROUP BY log_id, known_generation, minute
    ),
    bars AS (
        SELECT log_id, intDiv(minute * 60, width) * width AS second, max(behind) AS most_behind
        FROM (
            -- All files of a log together: rotation happens between minutes, and the maxima of two files are independent.
            SELECT log_id, minute, sum(greatest(0, toInt64(minutes.size) - toInt64(frontier))) AS behind
            FROM minutes
            WHERE all_census_rows > 0 AND toDateTime(minute * 60, 'UTC') >= range_start
            GROUP BY log_id, minute)
        GROUP BY log_id, second
    ),
    logs AS (
        SELECT cityHash64(instance, source, log) AS log_id, argMax(ledger.cluster, at) AS cluster, instance, source, log,
            concat(instance, ' · ', if(uniqExact(log) OVER (PARTITION BY instance, basename(log)) > 1, log, basename(log)))
                AS file
        FROM tailrace.ledger
        WHERE kind = 'CENSUS' AND at >= range_start AND at < toDateTime64(range_end, 6, 'UTC')
        GROUP BY instance, source, log
    )
SELECT
    cluster, instance, source, log, file,
    greatest(toDateTime(second, 'UTC'), toDateTime(range_start, 'UTC')) AS time,
    most_behind AS bytes_behind
FROM bars
INNER JOIN logs USING (log_id)
