-- The books of each file since it began: where its bytes and entries went, and whether that adds up.
--
-- `bytes_out_of_balance`: what the framer accounted for, less the ranges it posted; bytes that came again and
-- differ (OFFSET_CONFLICT) lie in a range that was accounted for before. `entries_out_of_balance`: entries cut,
-- less events and dead letters of entries. Both are 0 in books that balance; `tailrace books` says where they
-- are not. Postings of a backfill are signed, so sums are what holds now.
--
-- The blocks of one checkpoint arrive one after the other: while rows are coming in, those of the newest
-- checkpoint are left out. A file of which no line has arrived is a row of generation 0.
WITH
    (SELECT max(after_checkpoint) FROM tailrace.ledger) AS newest,
    (SELECT toInt64(newest) - (max(ingested_at) > now() - INTERVAL 3 SECOND)
        FROM tailrace.ledger WHERE after_checkpoint = newest) AS settled,
    without_generation AS (
        SELECT instance, source, log
        FROM tailrace.ledger
        WHERE kind = 'CENSUS' AND generation = 0
        GROUP BY instance, source, log
    ),
    unread AS (
        SELECT instance, source, log, inode
        FROM tailrace.ledger
        WHERE kind = 'CENSUS' AND (instance, source, log) IN without_generation
        GROUP BY instance, source, log, inode
        HAVING argMax(generation, (at, generation)) = 0 AND argMax(ledger.size, (at, generation)) > 0
    )
SELECT *,
    concat(instance, ' · ', if(uniqExact(log) OVER (PARTITION BY instance, basename(log)) > 1, log, basename(log)))
        AS file
FROM (
    SELECT
        cluster, instance, source, log, generation,
        argMaxIf(ledger.size, (at, ledger.size), kind = 'CENSUS') AS file_size,
        maxIf(to_offset, kind = 'FRONTIER') AS frontier,
        greatest(
            maxIf(from_offset, kind = 'FRONTIER'),
            maxIf(to_offset, kind IN ('ENTRY', 'FRAMING', 'GAP') AND bytes > 0)) AS accounted,
        greatest(0, toInt64(file_size) - toInt64(greatest(frontier, accounted))) AS bytes_behind,
        greatest(0, toInt64(frontier) - toInt64(accounted)) AS bytes_pending,
        sumIf(ledger.count, kind = 'ENTRY') AS entries,
        sumIf(ledger.count, kind = 'EVENT') AS events,
        sumIf(ledger.count, kind = 'DEAD_LETTER') AS dead_letters,
        sumIf(ledger.count, kind = 'DUPLICATE') AS duplicates,
        sumIf(bytes, kind = 'EVENT') AS event_bytes,
        sumIf(bytes, kind = 'DEAD_LETTER') AS dead_letter_bytes,
        sumIf(bytes, kind = 'FRAMING') AS framing_bytes,
        sumIf(bytes, kind = 'GAP') AS gap_bytes,
        toInt64(accounted) - sumIf(bytes, kind IN ('ENTRY', 'FRAMING', 'GAP')
            OR kind = 'DEAD_LETTER' AND stage = 'FRAMER' AND detail != 'OFFSET_CONFLICT') AS bytes_out_of_balance,
        entries - events - sumIf(ledger.count, kind = 'DEAD_LETTER' AND stage != 'FRAMER') AS entries_out_of_balance
    FROM tailrace.ledger
    WHERE toInt64(after_checkpoint) <= settled
        AND (generation > 0 OR kind = 'CENSUS' AND (instance, source, log, inode) IN unread)
    GROUP BY cluster, instance, source, log, generation)
