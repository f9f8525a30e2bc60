-- What detection found: the worst rules with how often they fired, and of whom they speak.
SELECT
    level,
    rule_title AS title,
    sum(alerts.count) AS times,
    arrayStringConcat(arraySlice(arraySort(groupUniqArray(entity_key)), 1, 2), '; ') AS about
FROM tailrace.alerts FINAL
GROUP BY level, title
ORDER BY indexOf(['informational', 'low', 'medium', 'high', 'critical'], level) DESC, times DESC, title
LIMIT 7
