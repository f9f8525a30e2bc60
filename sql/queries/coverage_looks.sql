-- Access to unmasked statements: one row per query, which is recorded before it is sent and again before its rows are
-- returned.
SELECT
    toDateTime(min(at), 'UTC') AS looked_at,
    any(superset_user) AS person,
    if(max(step = 'shown'), 'shown', 'asked, not shown') AS outcome,
    max(rows) AS rows_shown,
    arrayStringConcat(arraySort(groupUniqArrayArray(query_ids)), ', ') AS statements,
    any(statement) AS asked
FROM tailrace.unmasked_looks
GROUP BY look_id
