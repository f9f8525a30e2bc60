-- The balance of each file: all its bytes and entries by account, and whether the sums agree.
--
-- `bytes_out_of_balance`: the accounted bytes minus the ranges that the framer posted; bytes that arrived again with
-- other content (OFFSET_CONFLICT) are in a range that was accounted for before. `entries_out_of_balance`: entries minus
-- events and dead letters of entries. Both are 0 if the ledger balances; `tailrace ledger` shows the positions that do
-- not. Postings of a backfill are signed, so sums show the current state.
--
-- The blocks of one checkpoint arrive one after the other: while rows arrive, the newest checkpoint is excluded. A file
-- without any line is a row of generation 0.
{%- macro keys() -%} cluster, instance, source, log, generation, inode, kind, stage, detail {%- endmacro -%}
{%- macro sums() -%}
    {{ keys() }},
            sum(ledger.count) AS count_posted, sum(ledger.bytes) AS bytes_posted, max((at, ledger.size)) AS latest,
            max(from_offset) AS furthest_from, max(to_offset) AS furthest, maxIf(to_offset, ledger.bytes > 0) AS furthest_added
{%- endmacro %}
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
    ),
    open_days AS (
        -- Days with excluded rows. All other days are read from the projection sums_by_day.
        SELECT toDate(at) FROM tailrace.ledger GROUP BY toDate(at) HAVING toInt64(max(after_checkpoint)) > settled
    ),
    postings AS (
        SELECT {{ sums() }}
        FROM tailrace.ledger
        WHERE toDate(at) NOT IN open_days
        GROUP BY {{ keys() }}
        UNION ALL
        SELECT {{ sums() }}
        FROM tailrace.ledger
        WHERE toDate(at) IN open_days AND toInt64(after_checkpoint) <= settled
        GROUP BY {{ keys() }}
    )
SELECT *,
    concat(instance, ' · ', if(uniqExact(log) OVER (PARTITION BY instance, basename(log)) > 1, log, basename(log)))
        AS file
FROM (
    SELECT
        cluster, instance, source, log, generation,
        maxIf(latest, kind = 'CENSUS').2 AS file_size,
        maxIf(furthest, kind = 'FRONTIER') AS frontier,
        greatest(
            maxIf(furthest_from, kind = 'FRONTIER'),
            maxIf(furthest_added, kind IN ('ENTRY', 'FRAMING', 'GAP'))) AS accounted,
        greatest(0, toInt64(file_size) - toInt64(greatest(frontier, accounted))) AS bytes_behind,
        greatest(0, toInt64(frontier) - toInt64(accounted)) AS bytes_pending,
        sumIf(count_posted, kind = 'ENTRY') AS entries,
        sumIf(count_posted, kind = 'EVENT') AS events,
        sumIf(count_posted, kind = 'DEAD_LETTER') AS dead_letters,
        sumIf(count_posted, kind = 'DUPLICATE') AS duplicates,
        sumIf(bytes_posted, kind = 'EVENT') AS event_bytes,
        sumIf(bytes_posted, kind = 'DEAD_LETTER') AS dead_letter_bytes,
        sumIf(bytes_posted, kind = 'FRAMING') AS framing_bytes,
        sumIf(bytes_posted, kind = 'GAP') AS gap_bytes,
        toInt64(accounted) - sumIf(bytes_posted, kind IN ('ENTRY', 'FRAMING', 'GAP')
            OR kind = 'DEAD_LETTER' AND stage = 'FRAMER' AND detail != 'OFFSET_CONFLICT') AS bytes_out_of_balance,
        entries - events - sumIf(count_posted, kind = 'DEAD_LETTER' AND stage != 'FRAMER') AS entries_out_of_balance
    FROM postings
    WHERE generation > 0 OR kind = 'CENSUS' AND (instance, source, log, inode) IN unread
    GROUP BY cluster, instance, source, log, generation)
