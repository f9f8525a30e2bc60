{%- include "parts/utc.sql" -%}
-- Which minutes of which log files Tailrace has seen: stretches of minutes in one state.
--
--     covered   every byte that the file grew by has been read and accounted for
--     behind    some of those bytes have not been read yet
--     missing   some of them are in an open gap: lost, and not yet shipped again
--     unknown   no census looked at the file, so nobody can say whether it grew
--
-- The census says what range of bytes a file grew by in each minute; frontier and gaps say what became of it.
-- Bytes written while nobody looked belong to the first minute that looked again. A log of which lines came and no
-- census is unknown. One of which nothing has come for a week is taken as retired. The minute that is still running
-- is left out.
WITH
    toStartOfMinute({{ utc(from_dttm) if from_dttm else "now('UTC') - INTERVAL 1 DAY" }}) AS range_start,
    toStartOfMinute(least({{ utc(to_dttm) if to_dttm else "now('UTC')" }}, now('UTC'))) AS range_end,
    census AS (
        -- Of the time before the range only the last look counts: that is what the first one in it is compared with.
        SELECT cluster, instance, source, log, inode, generation,
            max(toStartOfMinute(toDateTime(at, 'UTC'))) AS minute,
            toInt64(max((toStartOfMinute(toDateTime(at, 'UTC')), ledger.size)).2) AS size
        FROM tailrace.ledger
        WHERE kind = 'CENSUS' AND at >= range_start - INTERVAL 7 DAY AND at < range_end
        GROUP BY cluster, instance, source, log, inode, generation,
            if(at < range_start, 0, intDiv(toUnixTimestamp(at), 60))
    ),
    matched AS (
        -- Before a file's first line it has no generation yet: it is the one that its inode gets next.
        SELECT cluster, instance, source, log, minute, size,
            ifNull(min(nullIf(generation, 0)) OVER (
                PARTITION BY instance, source, log, inode ORDER BY minute, generation
                ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING), 0) AS file
        FROM census
    ),
    looks AS (
        SELECT cluster, instance, source, log, file AS generation, minute, max(matched.size) AS size
        FROM matched
        GROUP BY cluster, instance, source, log, file, minute
    ),
    growth AS (
        SELECT *, lagInFrame(size) OVER (
            PARTITION BY instance, source, log, generation ORDER BY minute
            ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS size_before
        FROM looks
    ),
    frontiers AS (
        SELECT instance, source, log, generation, toInt64(max(to_offset)) AS frontier
        FROM tailrace.ledger
        WHERE kind = 'FRONTIER'
        GROUP BY instance, source, log, generation
    ),
    gaps AS (
        SELECT instance, source, log, generation,
            toInt64(from_offset) AS gap_start, toInt64(to_offset) AS gap_end, sign(bytes) AS posted
        FROM tailrace.ledger
        WHERE kind = 'GAP' AND (instance, source, log, generation) IN (
            SELECT instance, source, log, generation FROM tailrace.ledger WHERE kind = 'GAP'
            GROUP BY instance, source, log, generation)
    ),
    judged AS (
        SELECT
            cluster, instance, source, log, minute,
            multiIf(
                sum(posted * greatest(0, least(size, gap_end) - greatest(size_before, gap_start))) > 0, 3,
                max(size) > max(frontier), 2,
                1) AS severity
        FROM growth
        LEFT JOIN frontiers USING (instance, source, log, generation)
        LEFT JOIN gaps USING (instance, source, log, generation)
        WHERE minute >= range_start
        GROUP BY cluster, instance, source, log, generation, minute
    ),
    minutes AS (
        SELECT cluster, instance, source, log,
            toDateTime(arrayJoin(range(
                toUInt32(greatest(range_start, toStartOfMinute(toDateTime(min(at), 'UTC')))),
                toUInt32(range_end), 60)), 'UTC') AS minute
        FROM tailrace.ledger
        WHERE kind IN ('CENSUS', 'FRONTIER') AND at >= range_start - INTERVAL 7 DAY AND at < range_end
        GROUP BY cluster, instance, source, log
    ),
    states AS (
        SELECT
            cluster, instance, source, log, minute,
            ['unknown', 'covered', 'behind', 'missing'][1 + max(severity)] AS state
        FROM minutes
        LEFT JOIN judged USING (cluster, instance, source, log, minute)
        GROUP BY cluster, instance, source, log, minute
    )
SELECT
    cluster, instance, source, log, state,
    any(file) AS file,
    min(minute) AS from_time,
    max(minute) + INTERVAL 1 MINUTE AS to_time,
    count() AS minutes
FROM (
    SELECT *,
        concat(instance, ' · ', if(uniqExact(log) OVER (PARTITION BY instance, basename(log)) > 1, log, basename(log)))
            AS file,
        row_number() OVER (PARTITION BY instance, source, log ORDER BY minute)
            - row_number() OVER (PARTITION BY instance, source, log, state ORDER BY minute) AS stretch
    FROM states)
GROUP BY cluster, instance, source, log, state, stretch
