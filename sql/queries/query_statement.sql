{%- include "parts/statement.sql" -%}
{%- include "parts/links.sql" -%}
-- What one statement is: its text without literals, its tables, when it was seen, and where to look further.
WITH
    {{ chosen_statement() }}
SELECT
    leftPad(hex(fingerprints.query_id), 16, '0') AS query_id,
    anyLast(fingerprint) AS query,
    anyLast(fingerprints.verb) AS verb,
    arrayStringConcat(arraySort(groupUniqArrayArray(tables_read)), ', ') AS reads,
    arrayStringConcat(arraySort(groupUniqArrayArray(tables_written)), ', ') AS writes,
    toDateTime(min(first_seen_at), 'UTC') AS first_seen,
    toDateTime(max(seen_at), 'UTC') AS last_seen,
    concat(
        {{ link('slow-queries', 'query-id', 'query_id', 'query_id', "'Slow queries'") }}, ' · ',
        {{ link('plans', 'query-id', 'query_id', 'query_id', "'Plans'") }}, ' · ',
        {{ link('traces', 'query-id', 'query_id', 'query_id', "'Traces'") }}, ' · ',
        {{ link('samples', 'query-id', 'query_id', 'query_id', "'Unmasked samples'") }}, ' (for who may)') AS elsewhere
FROM tailrace.fingerprints
WHERE fingerprints.query_id = chosen
GROUP BY fingerprints.query_id
