-- The fingerprints of statements. Parameters: queries (query ids in hexadecimal digits).
SELECT leftPad(hex(query_id), 16, '0') AS query, any(fingerprint) AS statement
FROM tailrace.fingerprints
WHERE query_id IN (SELECT arrayJoin(arrayMap(each -> reinterpretAsUInt64(reverse(unhex(each))), {queries:Array(String)})))
GROUP BY query
