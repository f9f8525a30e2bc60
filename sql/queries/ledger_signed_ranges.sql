-- How far each file is signed by its host and verified, without a hole from its first byte on, and what was not verified. A
-- row has ranges of a record that follow each other with the same result; the latest one counts. Records that name no log,
-- such as rotations and failures of other hosts, have no file.
-- Parameters: instance (empty: all).
SELECT
    instance, source, log, generation,
    arrayFold(
        (reached, range) -> if(range.1 <= reached, greatest(reached, range.2), reached),
        arraySort(groupArrayIf((from_offset, to_offset), status = 'verified')),
        toUInt64(0)) AS verified_to,
    max(to_offset) AS signed_to,
    countIf(status = 'mismatch') AS mismatches,
    countIf(status IN ('bad_signature', 'unknown_key', 'broken_chain')) AS failures,
    countIf(status = 'incomplete') AS incomplete,
    countIf(status = 'unverified') AS unverified,
    toUnixTimestamp(max(signed_at)) AS signed_at
FROM tailrace.signed_ranges FINAL
WHERE {instance:String} = '' OR instance = {instance:String}
GROUP BY instance, source, log, generation
ORDER BY instance, source, log, generation
