-- The fingerprints and tables of statements. `last_seen` may be early (page_query_last_seen.sql). Parameters: query_ids.
SELECT
    query_id AS id, anyLast(fingerprint) AS query, toDateTime(max(last_seen_at), 'UTC') AS last_seen,
    arraySort(arrayDistinct(arrayConcat(groupUniqArrayArray(tables_read), groupUniqArrayArray(tables_written)))) AS tables
FROM tailrace.fingerprints
WHERE query_id IN {query_ids:Array(UInt64)}
GROUP BY query_id
