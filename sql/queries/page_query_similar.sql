-- Statements whose fingerprint equals one of the given ones apart from spaces, backticks and letter case; the newest 50.
-- `last_seen` may be early (page_query_last_seen.sql).
-- Parameters: fingerprints.
WITH arrayMap(text -> replaceAll(replaceAll(lower(text), ' ', ''), '`', ''), {fingerprints:Array(String)}) AS wanted
SELECT query_id AS id, anyLast(fingerprint) AS query, toDateTime(max(last_seen_at), 'UTC') AS last_seen
FROM tailrace.fingerprints
WHERE has(wanted, replaceAll(replaceAll(lower(fingerprint), ' ', ''), '`', ''))
GROUP BY query_id
ORDER BY last_seen DESC, id
LIMIT 50
