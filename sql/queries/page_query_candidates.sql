-- Statements whose fingerprint contains all words, in any case: those that a pasted statement is compared with; the newest 500.
-- Parameters: words.
SELECT query_id AS id, anyLast(fingerprint) AS query, toDateTime(max(last_seen_at), 'UTC') AS last_seen
FROM tailrace.fingerprints
WHERE arrayAll(word -> positionCaseInsensitiveUTF8(fingerprint, word) > 0, {words:Array(String)})
GROUP BY query_id
ORDER BY last_seen DESC, id
LIMIT 500
