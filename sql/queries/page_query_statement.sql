-- One statement: its fingerprint, its tables, and all query ids of its executions: its own, and its earlier or later ids if
-- the fingerprint rules changed. Excludes an old id that other statements also had. One row, or none for an unknown id.
--
-- A fingerprint is written at most once an hour of the job, so its `last_seen_at` can be early. The entries of the slow logs
-- are exact; the last hour with entries is read.
-- Parameters: query_id.
WITH
    renamed AS (
        SELECT query_id AS new_id, arrayJoin(previous_query_ids) AS old_id FROM tailrace.fingerprints
        WHERE notEmpty(previous_query_ids)
        GROUP BY new_id, old_id),
    (
        SELECT groupArray(id) FROM (
            SELECT new_id AS id FROM renamed WHERE old_id = {query_id:UInt64}
            UNION ALL
            SELECT old_id FROM renamed GROUP BY old_id HAVING groupUniqArray(new_id) = [{query_id:UInt64}])
    ) AS other_ids,
    (
        SELECT max(event_time) FROM tailrace.query_events
        WHERE query_events.query_id = {query_id:UInt64} AND event_time >= (
            SELECT max(last_hour) FROM tailrace.query_classes_1d WHERE query_classes_1d.query_id = {query_id:UInt64})
    ) AS last_executed
SELECT
    fingerprints.query_id AS id,
    anyLast(fingerprint) AS query,
    anyLast(fingerprints.verb) AS verb,
    arraySort(groupUniqArrayArray(tables_read)) AS reads,
    arraySort(groupUniqArrayArray(tables_written)) AS writes,
    toDateTime(min(first_seen_at), 'UTC') AS first_seen,
    toDateTime(greatest(max(last_seen_at), ifNull(last_executed, toDateTime64(0, 6, 'UTC'))), 'UTC') AS last_seen,
    other_ids AS others
FROM tailrace.fingerprints
WHERE fingerprints.query_id = {query_id:UInt64}
GROUP BY fingerprints.query_id
