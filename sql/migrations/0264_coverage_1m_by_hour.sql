-- Replaces 0120: reads a row per file and hour (0260, 0262) instead of all censuses, and names the log of a minute. All queries about
-- minutes read this view.
-- One row per log and minute with a census. A minute without a row is unknown. `severity` is 1 covered, 2 behind (the log had
-- unread bytes at the end of the minute, of this or an earlier one), 3 missing; a left join gives unknown minutes 0.
-- `behind_bytes` are the unread bytes that the minute added. `cluster` is that of the log at the end of the hour.
-- The census gives the byte range by which a file grew in each minute; frontier and gaps give the state of these bytes.
-- Bytes that were written without a census belong to the first minute with a census again. Its parameters: `first_minute` and
-- `end_minute` are whole minutes UTC, the end exclusive; an empty `server` selects all servers, empty `kinds` all sources.
-- `log_id` is cityHash64(instance, source, log), which sorts faster than strings. A parameter is written with a blank,
-- because `migrate` replaces names in braces without one.
CREATE OR REPLACE VIEW tailrace.coverage_1m {on_cluster}
SQL SECURITY INVOKER AS
WITH
    census AS (
        SELECT cityHash64(instance, source, log) AS log_id, cluster, instance, source, inode, generation,
            toStartOfHour(at) AS hour, max(at) AS last_at,
            maxForEach(arrayPushBack(arrayWithConstant(toMinute(at), toUInt64(0)), ledger.size + 1)) AS sizes
        FROM tailrace.ledger
        WHERE kind = 'CENSUS'
            AND toStartOfHour(at) >= toStartOfHour({ first_minute: DateTime('UTC') } - INTERVAL 7 DAY)
            AND toStartOfHour(at) < { end_minute: DateTime('UTC') }
            AND ({ server: String } = '' OR instance = { server: String })
            AND (empty({ kinds: Array(String) }) OR has({ kinds: Array(String) }, source))
        GROUP BY cluster, instance, source, log, inode, generation, hour,
            if(generation = 0 AND ledger.size > 0, toMinute(at), 60)
    ),
    matched AS (
        -- Before its first line a file has no generation: use the next generation of its inode.
        SELECT log_id, cluster, instance, source, hour, last_at, sizes,
            if(generation > 0, generation, ifNull(min(nullIf(generation, 0)) OVER (
                PARTITION BY log_id, inode ORDER BY last_at DESC, generation DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), 0)) AS file
        FROM census
    ),
    files AS (
        -- `size_before` is also + 1, or 0 without an earlier census.
        SELECT log_id, file AS generation, hour, argMax(matched.cluster, last_at) AS cluster,
            argMax(matched.instance, last_at) AS instance, argMax(matched.source, last_at) AS source,
            maxForEach(matched.sizes) AS sizes,
            max(arrayMax(maxForEach(matched.sizes))) OVER (
                PARTITION BY log_id, file ORDER BY hour
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS size_before
        FROM matched
        GROUP BY log_id, file, hour
    ),
    offsets AS (
        SELECT cityHash64(instance, source, log) AS log_id, generation, maxIf(to_offset, kind = 'FRONTIER') AS frontier,
            groupArrayIf((toInt64(from_offset), toInt64(to_offset), toInt64(sign(ledger.bytes))), kind = 'GAP') AS ranges
        FROM tailrace.ledger
        WHERE { server: String } = '' OR instance = { server: String }
        GROUP BY instance, source, log, generation
    ),
    hours AS (
        SELECT log_id, hour, argMax(files.cluster, generation) AS cluster, any(files.instance) AS instance,
            any(files.source) AS source,
            -- `befores` is the size + 1 at the census before that of each minute.
            maxForEach(arrayMap(size -> multiIf(size = 0, 0, size > frontier + 1, 2, 1), sizes)) AS states,
            sumForEach(arrayMap(
                (size, before) -> greatest(0, toInt64(size) - toInt64(before)),
                sizes,
                arrayPopBack(arrayFill(size -> size > 0, arrayPushFront(sizes, greatest(size_before, 1)))) AS befores))
                AS grown,
            sumForEach(arrayMap(
                (size, before) -> greatest(0, toInt64(size) - toInt64(greatest(frontier + 1, before))),
                sizes, befores)) AS behind,
            sumForEach(if(empty(ranges), [], arrayMap(
                (size, before) -> arraySum(
                    gap -> gap.3 * greatest(
                        0, least(toInt64(size) - 1, gap.2) - greatest(toInt64(before) - 1, gap.1)), ranges),
                sizes, befores))) AS missing
        FROM files
        LEFT JOIN offsets USING (log_id, generation)
        WHERE hour >= toStartOfHour({ first_minute: DateTime('UTC') })
        GROUP BY log_id, hour
    )
SELECT
    log_id,
    toInt64(toUnixTimestamp(hour)) + 60 * minute AS second,
    grown_bytes,
    behind_bytes,
    missing_bytes,
    multiIf(missing_bytes > 0, 3, state) AS severity,
    cluster,
    instance,
    source
FROM hours
ARRAY JOIN
    states AS state,
    range(length(states)) AS minute,
    grown AS grown_bytes,
    behind AS behind_bytes,
    arrayResize(missing, length(states), 0) AS missing_bytes
WHERE state > 0
    AND second >= toInt64(toUnixTimestamp({ first_minute: DateTime('UTC') }))
    AND second < toInt64(toUnixTimestamp({ end_minute: DateTime('UTC') }))
COMMENT 'Minutes in which a census looked at a log, with their coverage. Minutes without a row are unknown'
