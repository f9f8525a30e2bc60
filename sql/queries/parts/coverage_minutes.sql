{#- Minutes of each log and day of a range by state, for a WITH that defines range_start and range_end: `days`, with `expected`,
    `census_minutes` (those with a census), `missing_minutes` and `behind_minutes`. tailrace.coverage_1m defines the states. The same
    is computed here from whole hours: a minute is a bit of a number, and only hours with unread or lost bytes are looked into
    (ADR 0098). A test compares both.
    All minutes of the range are expected of each of the logs_of_period: those without a census are unknown.
    `kinds_of_logs`, a list as SQL, has the kinds of logs whose minutes are read; all if it is not set. -#}
{%- set size = "bitAnd(each, toUInt64(288230376151711743))" -%}
{%- set minute = "bitShiftRight(each, 58)" %}
    toStartOfMinute(range_start) AS first_minute,
    toStartOfMinute(least(range_end, now('UTC'))) AS end_minute,
    census AS (
        -- Answered by the projection minutes_by_hour of the ledger.
        SELECT cityHash64(instance, source, log) AS log_id, inode, generation, toStartOfHour(at) AS hour,
            maxIf(at, kind = 'CENSUS') AS last_at, maxIf(ledger.size, kind = 'CENSUS') AS max_size,
            groupBitOrIf(bitShiftLeft(toUInt64(1), toMinute(at)), kind = 'CENSUS') AS seen,
            groupArrayIf(bitOr(bitShiftLeft(toUInt64(toMinute(at)), 58), ledger.size), kind = 'CENSUS') AS sizes
        FROM tailrace.ledger
        WHERE toStartOfHour(at) >= toStartOfHour(first_minute - INTERVAL 7 DAY) AND toStartOfHour(at) < end_minute
        {%- if kinds_of_logs is defined %} AND has({{ kinds_of_logs }}, source){% endif %}
        GROUP BY cluster, instance, source, log, inode, generation, hour,
            if(generation = 0 AND ledger.size > 0, toMinute(at), 60)
        HAVING seen > 0
    ),
    matched AS (
        -- Before its first line a file has no generation: use the next generation of its inode.
        SELECT log_id, hour, max_size, seen, sizes,
            if(generation > 0, generation, ifNull(min(nullIf(generation, 0)) OVER (
                PARTITION BY log_id, inode ORDER BY last_at DESC, generation DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), 0)) AS file
        FROM census
    ),
    files AS (
        SELECT log_id, file AS generation, hour, groupBitOr(matched.seen) AS seen, max(matched.max_size) AS longest,
            groupArrayArray(matched.sizes) AS sizes,
            max(max(matched.max_size) + 1) OVER (
                PARTITION BY log_id, file ORDER BY hour ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS size_before
        FROM matched
        GROUP BY log_id, file, hour
    ),
    offsets AS (
        SELECT cityHash64(instance, source, log) AS log_id, generation, maxIf(to_offset, kind = 'FRONTIER') AS frontier,
            groupArrayIf((toInt64(from_offset), toInt64(to_offset), toInt64(sign(ledger.bytes))), kind = 'GAP') AS ranges
        FROM tailrace.ledger
        GROUP BY instance, source, log, generation
    ),
    hours AS (
        -- `beyond` are the minutes in which the log had unread bytes, and `missing` its lost bytes in each minute. `lengths` are the
        -- size + 1 in each minute, 0 without a census.
        SELECT log_id, hour, groupBitOr(files.seen) AS seen,
            groupBitOr(if(longest <= frontier, 0, arrayReduce('groupBitOr', arrayMap(
                each -> if({{ size }} > frontier, bitShiftLeft(toUInt64(1), {{ minute }}), 0), sizes)))) AS beyond,
            sumForEach(if(empty(ranges), [], arrayMap(
                (length, before) -> arraySum(
                    gap -> gap.3 * greatest(
                        0, least(toInt64(length) - 1, gap.2) - greatest(toInt64(before) - 1, gap.1)), ranges),
                arrayReduce('maxForEach', arrayMap(
                    each -> arrayPushBack(arrayWithConstant({{ minute }}, toUInt64(0)), {{ size }} + 1), sizes)) AS lengths,
                arrayPopBack(arrayFill(
                    length -> length > 0, arrayPushFront(lengths, greatest(size_before, 1))))))) AS missing
        FROM files
        LEFT JOIN offsets USING (log_id, generation)
        WHERE hour >= toStartOfHour(first_minute)
        GROUP BY log_id, hour
    ),
    judged AS (
        SELECT log_id, toDate(hour) AS day, sum(bitCount(bitAnd(shown, seen))) AS census_minutes,
            sum(bitCount(bitAnd(shown, bitAnd(seen, lost)))) AS missing_minutes,
            sum(bitCount(bitAnd(shown, bitAnd(beyond, bitNot(lost))))) AS behind_minutes
        FROM (
            -- `shown` are the minutes of the hour in the range, `lost` those in which bytes are missing.
            SELECT log_id, hour, seen, beyond,
                bitAnd(
                    bitShiftLeft(toUInt64(1), least(60, dateDiff('minute', hour, end_minute))) - 1,
                    bitNot(bitShiftLeft(toUInt64(1), greatest(0, dateDiff('minute', hour, first_minute))) - 1)) AS shown,
                if(empty(missing), toUInt64(0), arrayReduce('groupBitOr', arrayMap(
                    (bytes, minute) -> if(bytes > 0, bitShiftLeft(toUInt64(1), minute), 0),
                    missing, range(length(missing))))) AS lost
            FROM hours)
        GROUP BY log_id, day
    ),
    days AS (
        SELECT cluster, instance, source, log, day,
            dateDiff('minute', greatest(first_minute, toStartOfDay(day, 'UTC')), least(end_minute, toStartOfDay(day + 1, 'UTC')))
                AS expected,
            judged.census_minutes AS census_minutes, judged.missing_minutes AS missing_minutes,
            judged.behind_minutes AS behind_minutes
        FROM (
            SELECT cluster, instance, source, log, cityHash64(instance, source, log) AS log_id,
                toDate(first_minute) + arrayJoin(range(
                    toUInt64(dateDiff('day', first_minute, end_minute - INTERVAL 1 SECOND) + 1))) AS day
            FROM tailrace.logs_of_period(period_from = first_minute, period_to = end_minute)
            WHERE first_minute < end_minute {%- if kinds_of_logs is defined %} AND has({{ kinds_of_logs }}, source){% endif %}) AS expected_logs
        LEFT JOIN judged USING (log_id, day)
    )
