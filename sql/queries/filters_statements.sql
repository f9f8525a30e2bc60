-- Filter values of statements: all known query ids.
SELECT leftPad(hex(found.query_id), 16, '0') AS query_id
FROM (SELECT DISTINCT query_id FROM tailrace.fingerprints) AS found
