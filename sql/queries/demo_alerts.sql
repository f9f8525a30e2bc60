-- The most severe rules with the number of their alerts and their entities.
SELECT
    level,
    rule_title AS title,
    sum(alerts.count) AS times,
    arrayStringConcat(arraySlice(arraySort(groupUniqArray(entity_key)), 1, 2), '; ') AS about
FROM tailrace.alerts FINAL
GROUP BY level, title
ORDER BY indexOf(['informational', 'low', 'medium', 'high', 'critical'], level) DESC, times DESC, title
LIMIT 7
