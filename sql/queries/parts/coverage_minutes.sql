{#- Minutes of each log and day of a range by state, for a WITH that defines range_start and range_end: `days` and `not_covered`.
    All minutes of the range are expected of each of the logs_of_period: those without a census are unknown.
    It does not read tailrace.coverage_1m, which takes several times as long for months of many logs: it counts a minute with a
    census as covered, and evaluates single minutes only for files with open gaps or unread bytes. A test compares both. -#}
    toStartOfMinute(range_start) AS first_minute,
    toStartOfMinute(least(range_end, now('UTC'))) AS end_minute,
    first_minute - INTERVAL 7 DAY AS known_since,
    longer AS (
        SELECT instance, source, log, generation
        FROM tailrace.ledger
        WHERE kind IN ('CENSUS', 'FRONTIER') AND at >= known_since
        GROUP BY instance, source, log, generation
        HAVING maxIf(ledger.size, kind = 'CENSUS') > maxIf(to_offset, kind = 'FRONTIER')
    ),
    frontiers AS (
        -- Before its first line a file has no generation: use the frontier of its inode.
        SELECT instance, source, log, arrayJoin([(generation, toUInt64(0)), (toUInt64(0), inode)]) AS file,
            max(read_to) AS frontier
        FROM (
            SELECT instance, source, log, generation, inode, max(to_offset) AS read_to
            FROM tailrace.ledger
            WHERE kind = 'FRONTIER' AND (instance, source, log) IN (SELECT instance, source, log FROM longer)
            GROUP BY instance, source, log, generation, inode)
        GROUP BY instance, source, log, file
    ),
    behind AS (
        SELECT instance, source, log, toStartOfMinute(toDateTime(at, 'UTC')) AS minute, 2 AS severity
        FROM (
            SELECT *, if(generation > 0, (generation, toUInt64(0)), (toUInt64(0), inode)) AS file
            FROM tailrace.ledger
            WHERE kind = 'CENSUS' AND at >= first_minute AND at < end_minute
                AND (instance, source, log, generation) IN (SELECT instance, source, log, generation FROM longer)
        ) AS census
        LEFT ANY JOIN frontiers USING (instance, source, log, file)
        WHERE census.size > frontier
        GROUP BY instance, source, log, minute
    ),
    gaps AS (
        SELECT instance, source, log, generation, toInt64(from_offset) AS gap_from, toInt64(to_offset) AS gap_to,
            sum(toInt64(sign(ledger.bytes))) AS times
        FROM tailrace.ledger
        WHERE kind = 'GAP' AND (instance, source, log, generation) IN (
            SELECT instance, source, log, generation FROM tailrace.ledger WHERE kind = 'GAP'
            GROUP BY instance, source, log, generation)
        GROUP BY instance, source, log, generation, gap_from, gap_to
        HAVING times != 0
    ),
    growth AS (
        SELECT instance, source, log, generation, toStartOfMinute(toDateTime(at, 'UTC')) AS minute,
            toInt64(max(ledger.size)) AS size_after,
            lagInFrame(toInt64(max(ledger.size))) OVER (
                PARTITION BY instance, source, log, generation ORDER BY minute
                ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS size_before
        FROM tailrace.ledger
        WHERE kind = 'CENSUS' AND at >= known_since AND at < end_minute
            AND (instance, source, log, generation) IN (SELECT instance, source, log, generation FROM gaps)
        GROUP BY instance, source, log, generation, minute
    ),
    missing AS (
        SELECT instance, source, log, minute, 3 AS severity
        FROM growth INNER JOIN gaps USING (instance, source, log, generation)
        WHERE minute >= first_minute AND size_after > gap_from AND size_before < gap_to
        GROUP BY instance, source, log, minute
        HAVING sum(times * greatest(0, least(size_after, gap_to) - greatest(size_before, gap_from))) > 0
    ),
    not_covered AS (
        SELECT instance, source, log, toDate(minute) AS day,
            countIf(severity = 3) AS missing_minutes, countIf(severity = 2) AS behind_minutes
        FROM (
            SELECT instance, source, log, minute, max(severity) AS severity
            FROM (SELECT * FROM behind UNION ALL SELECT * FROM missing)
            GROUP BY instance, source, log, minute)
        GROUP BY instance, source, log, day
    ),
    census_days AS (
        SELECT instance, source, log, toDate(at) AS census_day,
            groupBitmap(intDiv(toUnixTimestamp(at), 60)) AS census_minutes
        FROM tailrace.ledger
        WHERE kind = 'CENSUS' AND at >= first_minute AND at < end_minute
        GROUP BY instance, source, log, census_day
    ),
    logs AS (
        SELECT cluster, instance, source, log, census_minutes_by_day
        FROM tailrace.logs_of_period(period_from = first_minute, period_to = end_minute) AS expected_logs
        LEFT JOIN (
            SELECT instance, source, log, mapFromArrays(groupArray(census_day), groupArray(census_minutes)) AS census_minutes_by_day
            FROM census_days
            GROUP BY instance, source, log) AS seen_logs USING (instance, source, log)
    ),
    days AS (
        SELECT cluster, instance, source, log, toDate(first_minute) + arrayJoin(range(
                toUInt64(dateDiff('day', first_minute, end_minute - INTERVAL 1 SECOND) + 1))) AS day,
            dateDiff('minute', greatest(first_minute, toStartOfDay(day, 'UTC')), least(end_minute, toStartOfDay(day + 1, 'UTC')))
                AS expected,
            census_minutes_by_day[day] AS census_minutes
        FROM logs
        WHERE first_minute < end_minute
    )
