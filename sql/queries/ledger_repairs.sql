-- The last result of the automatic repair for each byte range. A range that is lost may have been filled since, for
-- example by `tailrace backfill --file`: compare it with the open gaps.
-- Parameters: instance (empty: all).
SELECT instance, source, log, generation, from_offset, to_offset,
    argMax(bytes, at) AS bytes,
    toString(argMax(state, at)) AS state,
    argMax(reason, at) AS reason
FROM tailrace.gap_repairs
WHERE {instance:String} = '' OR instance = {instance:String}
GROUP BY instance, source, log, generation, from_offset, to_offset
ORDER BY instance, source, log, generation, from_offset
