-- The bytes of each log that was read in the period by outcome: entries, unparsable bytes, bytes that were recorded as lost in the
-- period and how many of these were filled since, and `conflicting_lines`: lines that arrived again at the same offset with
-- other content. A log that moved to another cluster has one row, with the cluster of its last posting in the period.
-- Parameters: from, to.
WITH
{%- include "parts/lost_files.sql" -%}
{%- include "parts/lost_ranges.sql" -%}
    , losses AS (
        SELECT instance, source, log, sum(lost_bytes) AS lost_in_log, sum(lost_bytes - missing_bytes) AS filled_in_log
        FROM lost_ranges
        WHERE lost_at >= {from:DateTime('UTC')} AND lost_at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
        GROUP BY instance, source, log
    )
SELECT
    cluster, instance, source, log, files, entries, entry_bytes, events, entries_not_readable, conflicting_lines, lines_read_again,
    toInt64(lost_in_log) AS bytes_lost, toInt64(filled_in_log) AS bytes_filled_again, first_posting, last_posting
FROM (
    SELECT
        argMax(ledger.cluster, at) AS cluster, instance, source, log,
        uniqExactIf(generation, generation > 0) AS files,
        sumIf(ledger.count, kind = 'ENTRY') AS entries,
        sumIf(bytes, kind = 'ENTRY') AS entry_bytes,
        sumIf(ledger.count, kind = 'EVENT') AS events,
        sumIf(ledger.count, kind = 'DEAD_LETTER' AND detail != 'OFFSET_CONFLICT') AS entries_not_readable,
        sumIf(ledger.count, kind = 'DEAD_LETTER' AND detail = 'OFFSET_CONFLICT') AS conflicting_lines,
        sumIf(ledger.count, kind = 'DUPLICATE') AS lines_read_again,
        toDateTime(min(at), 'UTC') AS first_posting, toDateTime(max(at), 'UTC') AS last_posting
    FROM tailrace.ledger
    WHERE at >= {from:DateTime('UTC')} AND at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
    GROUP BY instance, source, log) AS logs
LEFT JOIN losses USING (instance, source, log)
ORDER BY instance, source, log
