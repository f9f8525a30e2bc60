    lost_ranges AS (
        -- One row per byte range that was recorded as lost, for a WITH. A backfill that fills a part takes the posting back and
        -- posts the rest: the sum of all postings on a range is what is still missing of it. A rest is no loss of its own.
        -- The files are those of `lost_files`, which comes before: all of them (parts/lost_files.sql), or the one that is asked for.
        SELECT
            cluster, instance, source, log, generation, cityHash64(instance, source, log, generation) AS file_id,
            toUInt64(lost.1) AS from_offset, toUInt64(lost.2) AS to_offset,
            arrayFirst(each -> each.1 = lost.1 AND each.2 = lost.2 AND each.3 > 0, postings).5 AS gap_kind,
            arrayMin(each -> each.4, arrayFilter(each -> each.1 = lost.1 AND each.2 = lost.2 AND each.3 > 0, postings)) AS lost_at,
            to_offset - from_offset AS lost_bytes,
            toUInt64(greatest(0, least(lost.2 - lost.1, arraySum(
                each -> each.3 * greatest(0, least(each.2, lost.2) - greatest(each.1, lost.1)), postings)))) AS missing_bytes,
            if(missing_bytes = lost_bytes, NULL, toDateTime(arrayMax(
                each -> each.4, arrayFilter(each -> each.3 < 0 AND each.1 < lost.2 AND each.2 > lost.1, postings)), 'UTC')) AS repaired_at
        FROM (
            SELECT cluster, instance, source, log, generation, postings, arrayJoin(arrayDistinct(arrayMap(
                each -> (each.1, each.2), arrayFilter(each -> each.3 > 0, postings)))) AS lost
            FROM (
                SELECT argMax(ledger.cluster, at) AS cluster, instance, source, log, generation, arraySort(groupArray((toInt64(from_offset),
                    toInt64(to_offset), toInt64(sign(ledger.bytes)), at, toString(detail)))) AS postings
                FROM tailrace.ledger
                WHERE kind = 'GAP' AND (instance, source, log, generation) IN (
                    SELECT instance, source, log, generation FROM lost_files)
                GROUP BY instance, source, log, generation))
        WHERE NOT arrayExists(
            each -> each.3 > 0 AND each.1 <= lost.1 AND each.2 >= lost.2 AND (each.1, each.2) != lost, postings)
    )
