-- Access to unmasked statements: one row per query, which is recorded before it is sent and again before its rows are
-- returned.
SELECT
    toDateTime(min(at), 'UTC') AS accessed_at,
    any(superset_user) AS person,
    if(max(step = 'shown'), 'returned', 'requested, not returned') AS outcome,
    max(rows) AS rows_returned,
    arrayStringConcat(arraySort(groupUniqArrayArray(query_ids)), ', ') AS statements,
    any(statement) AS query
FROM tailrace.unmasked_accesses
GROUP BY access_id
