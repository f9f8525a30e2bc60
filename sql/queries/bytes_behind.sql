{%- include "parts/utc.sql" -%}
-- How far reading is behind writing: per file and minute, the bytes that are in the file and not yet read.
-- The frontier of a minute is the furthest that was read up to its end. Before a file's first line has come its
-- census rows have no generation: the minute is then that of the generation which the inode gets next.
WITH
    {{ utc(from_dttm) if from_dttm else "now('UTC') - INTERVAL 1 DAY" }} AS range_start,
    {{ utc(to_dttm) if to_dttm else "now('UTC')" }} AS range_end,
    postings AS (
        -- Of the time before the range only how far each generation was read is told: a row each, not one for each minute.
        SELECT
            cluster, instance, source, log, inode, generation,
            toStartOfMinute(toDateTime(if(at < range_start, range_start - INTERVAL 1 MINUTE, at), 'UTC')) AS minute,
            countIf(kind = 'CENSUS') AS looks,
            max(ledger.size) AS size,
            max(to_offset) AS read
        FROM tailrace.ledger
        WHERE kind IN ('CENSUS', 'FRONTIER') AND at >= range_start - INTERVAL 7 DAY AND at < range_end
        GROUP BY cluster, instance, source, log, inode, generation, minute
    ),
    matched AS (
        SELECT *, ifNull(min(nullIf(generation, 0)) OVER (
            PARTITION BY instance, source, log, inode ORDER BY minute, generation
            ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING), 0) AS known_generation
        FROM postings
    ),
    minutes AS (
        SELECT
            cluster, instance, source, log, known_generation, minute,
            sum(looks) AS looked, max(matched.size) AS size,
            max(max(read)) OVER (
                PARTITION BY instance, source, log, known_generation ORDER BY minute) AS frontier
        FROM matched
        GROUP BY cluster, instance, source, log, known_generation, minute
    )
SELECT
    cluster, instance, source, log,
    concat(instance, ' · ', if(uniqExact(log) OVER (PARTITION BY instance, basename(log)) > 1, log, basename(log)))
        AS file,
    minute AS time,
    greatest(0, toInt64(size) - toInt64(frontier)) AS bytes_behind
FROM minutes
WHERE looked > 0 AND time >= range_start
