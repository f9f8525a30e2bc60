-- The last known size of tables on each server that has them: rows as the storage engine estimates them, bytes of data and
-- indexes. Parameters: names (in lower case, without their database), oldest, to.
SELECT
    toString(table_sizes.instance) AS server, toString(table_sizes.database) AS schema_name, table AS table_name,
    argMax(rows, at) AS estimated_rows, argMax(data_bytes + index_bytes, at) AS bytes, toDateTime(max(at), 'UTC') AS measured
FROM tailrace.table_sizes
WHERE lower(table) IN {names:Array(String)} AND at >= {oldest:DateTime('UTC')} AND at < toDateTime64({to:DateTime('UTC')}, 6, 'UTC')
GROUP BY server, schema_name, table_name
ORDER BY bytes DESC, server, schema_name, table_name
LIMIT 50
