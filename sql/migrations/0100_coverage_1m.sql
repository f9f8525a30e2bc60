-- The one definition of the coverage of minutes (docs/GLOSSARY.md): a row per log and minute in which a census looked.
-- A minute without a row is unknown. `severity` is 1 covered, 2 behind, 3 missing; a left join gives unknown minutes 0.
-- `has_unread`: at the end of the minute the log had bytes that have not been read, whichever minute wrote them.
-- The census says by what range of bytes a file grew in a minute, frontier and gaps say what became of them. Bytes that
-- were written while nobody looked belong to the first minute that looked again. All queries about minutes read this view.
-- It has parameters, because what it does with windows must not begin at the first census ever: `first_minute` and
-- `end_minute` are whole minutes UTC, the end not included; an empty `server` is all, and empty `kinds` are all sources.
-- `log_id` is cityHash64(instance, source, log): months have millions of minutes, which would be sorted by texts. The
-- blank in a parameter keeps it apart from a placeholder.
CREATE VIEW IF NOT EXISTS tailrace.coverage_1m {on_cluster}
SQL SECURITY INVOKER AS
WITH
    census AS (
        -- Of the time before the range only the last look counts: that is what the first one in it is compared with.
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
        -- Before a file's first line it has no generation yet: it is the one that its inode gets next.
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
    multiIf(missing_bytes > 0, 3, behind_bytes > 0, 2, 1) AS severity,
    max(size_after > frontier) AS has_unread
FROM growth
LEFT JOIN frontiers USING (log_id, generation)
LEFT JOIN gaps USING (log_id, generation)
WHERE second >= toInt64(toUnixTimestamp({ first_minute: DateTime('UTC') }))
GROUP BY log_id, second
COMMENT 'Minutes in which a census looked at a log, with their coverage. Minutes without a row are unknown'
