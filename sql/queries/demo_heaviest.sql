-- The five statements with the most total time in all stored data: the summary of `tailrace demo`.
SELECT leftPad(hex(query_id), 16, '0') AS query_id, entries, total_seconds, p95_seconds, fingerprint
FROM (
    SELECT
        query_events.query_id AS query_id, rule_set,
        count() AS entries,
        sum(query_time * weight) AS total_seconds,
        quantileExact(0.95)(query_time) AS p95_seconds
    FROM tailrace.query_events
    GROUP BY query_id, rule_set
    ORDER BY total_seconds DESC
    LIMIT 5) AS heaviest
ANY LEFT JOIN tailrace.fingerprints USING (query_id, rule_set)
ORDER BY total_seconds DESC
