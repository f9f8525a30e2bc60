-- Replaces 0100: a minute is behind if its log had unread bytes at its end, also if they are of an earlier minute. The
-- ledger, evidence and the auditor's view called such a minute covered, the dashboard Log coverage called it behind.
-- One row per log and minute with a census. A minute without a row is unknown. `severity` is 1 covered, 2 behind,
-- 3 missing; a left join gives unknown minutes 0. `behind_bytes` are the unread bytes that the minute added.
-- The census gives the byte range by which a file grew in each minute; frontier and gaps give the state of these bytes.
-- Bytes that were written without a census belong to the first minute with a census again. All queries about minutes read
-- this view. Its parameters limit the window functions to a range: `first_minute` and `end_minute` are whole minutes UTC,
-- the end exclusive; an empty `server` selects all servers, and empty `kinds` select all sources.
-- `log_id` is cityHash64(instance, source, log), which sorts faster than strings. A parameter is written with a blank,
-- because `migrate` replaces names in braces without one.
CREATE OR REPLACE VIEW tailrace.coverage_1m {on_cluster}
SQL SECURITY INVOKER AS
WITH
    census AS (
        -- For the time before the range only the last census counts: the first one in the range is compared with it.
        SELECT cityHash64(instance, source, log) AS log_id, inode, generation,
            max(60 * intDiv(toInt64(toUnixTimestamp(at)), 60)) AS second,
            toInt64(argMax(ledger.size, (intDiv(toUnixTimestamp(at), 60), ledger.size))) AS size
        FROM tailrace.ledger
        WHERE kind = 'CENSUS'
            AND at >= { first_minute: DateTime('UTC') } - INTERVAL 7 DAY AND at < { end_minute: DateTime('UTC') }
            AND ({ server: String } = '' OR instance = { server: String })
            AND (empty({ kinds: Array(String) }) OR has({ kinds: Array(String) }, source))
        GROUP BY log_id, inode, generation,
            if(at < { first_minute: DateTime('UTC') }, 0, intDiv(toUnixTimestamp(at), 60))
    ),
    matched AS (
        -- Before its first line a file has no generation: use the next generation of its inode.
        SELECT log_id, second, census.size AS size,
            ifNull(min(nullIf(generation, 0)) OVER (
                PARTITION BY log_id, inode ORDER BY second DESC, generation DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), 0) AS file
        FROM census
    ),
    growth AS (
        SELECT log_id, file AS generation, second, max(matched.size) AS size_after,
            lagInFrame(max(matched.size)) OVER (
                PARTITION BY log_id, file ORDER BY second
                ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS size_before
        FROM matched
        GROUP BY log_id, file, second
    ),
    frontiers AS (
        SELECT cityHash64(instance, source, log) AS log_id, generation, frontier
        FROM (
            SELECT instance, source, log, generation, toInt64(max(to_offset)) AS frontier
            FROM tailrace.ledger
            WHERE kind = 'FRONTIER'
            GROUP BY instance, source, log, generation)
    ),
    gaps AS (
        SELECT cityHash64(instance, source, log) AS log_id, generation,
            groupArray((toInt64(from_offset), toInt64(to_offset), toInt64(sign(ledger.bytes)))) AS ranges
        FROM tailrace.ledger
        WHERE kind = 'GAP' AND (instance, source, log, generation) IN (
            SELECT instance, source, log, generation FROM tailrace.ledger WHERE kind = 'GAP'
            GROUP BY instance, source, log, generation)
        GROUP BY log_id, generation
    )
SELECT
    log_id,
    second,
    sum(greatest(0, size_after - size_before)) AS grown_bytes,
    sum(greatest(0, size_after - greatest(frontier, size_before))) AS behind_bytes,
    sum(arraySum(
        gap -> gap.3 * greatest(0, least(size_after, gap.2) - greatest(size_before, gap.1)), ranges)) AS missing_bytes,
    multiIf(missing_bytes > 0, 3, max(size_after > frontier), 2, 1) AS severity
FROM growth
LEFT JOIN frontiers USING (log_id, generation)
LEFT JOIN gaps USING (log_id, generation)
WHERE second >= toInt64(toUnixTimestamp({ first_minute: DateTime('UTC') }))
GROUP BY log_id, second
COMMENT 'Minutes in which a census looked at a log, with their coverage. Minutes without a row are unknown'
