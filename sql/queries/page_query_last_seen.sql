-- When the slow logs last had an execution of each statement, to the hour. Statements without one have no row.
-- A fingerprint is written at most once an hour of the job, so its `last_seen_at` can be early, by more than an hour while old
-- logs are read. The rollup costs a row per server and day; page_query_statement reads the events of one statement.
-- Parameters: query_ids.
SELECT query_id AS id, max(last_hour) AS last_hour
FROM tailrace.query_classes_1d
WHERE query_id IN {query_ids:Array(UInt64)}
GROUP BY query_id
