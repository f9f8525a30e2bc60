    -- Which minutes of the log the byte ranges of `range_rows` (rows of lost_ranges as tuples, read once) cover, for a WITH: the
    -- times of the records in a range, and of those next to it. Only records of the day of the loss and of two days before are read.
    ranges AS (
        SELECT each.1 AS cluster, each.2 AS instance, each.3 AS source, each.4 AS log, each.5 AS generation, each.6 AS file_id,
            each.7 AS from_offset, each.8 AS to_offset, each.9 AS gap_kind, each.10 AS lost_at, each.11 AS lost_bytes,
            each.12 AS missing_bytes, each.13 AS repaired_at
        FROM (SELECT arrayJoin(range_rows) AS each)
    ),
    days AS (
        SELECT arrayJoin(arrayMap(days_before -> toYYYYMMDD(toDate(lost_at) - days_before), [0, 1, 2])) FROM ranges
    ),
    records AS (
        SELECT cityHash64(instance, source, log, generation) AS file_id, toUInt64(entry_offset) AS position, event_time
        FROM tailrace.audit_events WHERE toYYYYMMDD(event_time) IN days AND (instance, log) IN (SELECT instance, log FROM ranges)
        UNION ALL
        SELECT cityHash64(instance, source, log, generation), entry_offset, event_time
        FROM tailrace.query_events WHERE toYYYYMMDD(event_time) IN days AND (instance, log) IN (SELECT instance, log FROM ranges)
        UNION ALL
        SELECT cityHash64(instance, source, log, generation), entry_offset, event_time
        FROM tailrace.error_events WHERE toYYYYMMDD(event_time) IN days AND (instance, log) IN (SELECT instance, log FROM ranges)
    ),
    around AS (
        -- Each record belongs to the nearest range before it and to the nearest one after it.
        SELECT range_id, minOrNullIf(event_time, is_inside) AS first_inside, maxOrNullIf(event_time, is_inside) AS last_inside,
            argMaxOrNullIf(event_time, (position, event_time), is_before) AS last_before,
            argMinOrNullIf(event_time, (position, event_time), NOT is_before AND NOT is_inside) AS first_after
        FROM (
            SELECT position, event_time, ranges.from_offset AS range_from, cityHash64(records.file_id, range_from) AS range_id,
                position < ranges.to_offset AS is_inside, false AS is_before
            FROM records ASOF JOIN ranges ON ranges.file_id = records.file_id AND records.position >= ranges.from_offset
            UNION ALL
            SELECT position, event_time, ranges.from_offset AS range_from, cityHash64(records.file_id, range_from), false, true
            FROM records ASOF JOIN ranges ON ranges.file_id = records.file_id AND records.position < ranges.from_offset)
        GROUP BY range_id
    )
    , located AS (
        SELECT ranges.*,
            toDateTime(toStartOfMinute(if(missing_bytes = 0, coalesce(first_inside, last_before), last_before)), 'UTC') AS log_from,
            toDateTime(toStartOfMinute(if(missing_bytes = 0, coalesce(last_inside, first_after), first_after))
                + INTERVAL 1 MINUTE, 'UTC') AS log_to,
            multiIf(missing_bytes = 0, 'repaired', missing_bytes = lost_bytes, 'missing', 'repaired in part') AS state
        FROM ranges
        LEFT JOIN around ON around.range_id = cityHash64(ranges.file_id, ranges.from_offset)
    )
