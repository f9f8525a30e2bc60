-- The steps of plans, each with the step that it gives its rows to: a tree.
--
-- One row per step of a plan; of several servers or sources with the same plan the latest counts.
WITH
    outlines AS (
        SELECT plan_hash, plans.query_id AS id, splitByChar('\n', argMax(tree, seen_at)) AS lines, max(seen_at) AS seen
        FROM tailrace.plans
        GROUP BY plan_hash, plans.query_id),
    steps AS (
        SELECT
            plan_hash, id, seen, lines,
            arrayMap(line -> intDiv(length(line) - length(trimLeft(line)), 2), lines) AS depths
        FROM outlines)
SELECT
    toDateTime(seen, 'UTC') AS time,
    leftPad(hex(id), 16, '0') AS query_id,
    plan_hash,
    step,
    concat(plan_hash, '/', query_id, '/', toString(step)) AS node,
    if(step = 1, '', concat(plan_hash, '/', query_id, '/',
        toString(arrayLastIndex(depth -> depth = depths[step] - 1, arraySlice(depths, 1, step - 1))))) AS parent,
    trimLeft(lines[step]) AS label
FROM steps
ARRAY JOIN arrayEnumerate(lines) AS step
