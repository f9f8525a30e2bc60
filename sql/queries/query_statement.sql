{%- include "parts/statement.sql" -%}
{%- include "parts/links.sql" -%}
-- One statement: its masked text, its tables, its times, and links to other dashboards.
--
-- A fingerprint is written at most once an hour of the job, so its `last_seen_at` may be an hour early, and more while old logs
-- are read. The entries of the slow logs are exact; the last hour with entries is read. A statement that only other logs contain
-- keeps `last_seen_at`.
WITH
    {{ chosen_statement() }},
    (
        SELECT max(event_time) FROM tailrace.query_events
        WHERE query_events.query_id = chosen
            AND event_time >= (SELECT max(hour) FROM tailrace.query_classes_1h WHERE query_classes_1h.query_id = chosen)
    ) AS last_executed
SELECT
    leftPad(hex(fingerprints.query_id), 16, '0') AS query_id,
    anyLast(fingerprint) AS query,
    anyLast(fingerprints.verb) AS verb,
    arrayStringConcat(arraySort(groupUniqArrayArray(tables_read)), ', ') AS reads,
    arrayStringConcat(arraySort(groupUniqArrayArray(tables_written)), ', ') AS writes,
    toDateTime(min(first_seen_at), 'UTC') AS first_seen,
    toDateTime(greatest(max(last_seen_at), ifNull(last_executed, toDateTime64(0, 6, 'UTC'))), 'UTC') AS last_seen,
    concat(
        {{ page_of_statement('query_id', "'Page of the statement'") }}, ' · ',
        {{ link('slow-queries', 'query-id', 'query_id', 'query_id', "'Slow queries'") }}, ' · ',
        {{ link('plans', 'query-id', 'query_id', 'query_id', "'Plans'") }}, ' · ',
        {{ link('traces', 'query-id', 'query_id', 'query_id', "'Traces'") }}, ' · ',
        {{ page_of_statement('query_id', "'Unmasked samples'", 'samples/') }}, ' (needs a role)',
        if(
            notEmpty(groupUniqArrayArray(previous_query_ids) AS earlier),
            concat(' · by the former rules of fingerprints: ', arrayStringConcat(arrayMap(id ->
                {{ link_to_query("leftPad(hex(id), 16, '0')", "leftPad(hex(id), 16, '0')") }}, earlier), ', ')),
            '')) AS elsewhere
FROM tailrace.fingerprints
WHERE fingerprints.query_id = chosen
GROUP BY fingerprints.query_id
