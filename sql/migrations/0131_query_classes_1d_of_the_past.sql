-- Fills query_classes_1d for the days before it existed, from the hours of query_classes_1h, which have the same sums. The
-- migration before it requires that nothing writes. A table with rows stays as it is, so that a second run adds nothing.
INSERT INTO tailrace.query_classes_1d
    (query_id, cluster, instance, database, day, count, weight, query_time, lock_time, rows_sent, rows_examined, latencies, last_hour)
SELECT
    query_id, cluster, instance, database, toStartOfDay(hour) AS day,
    sum(hours.count), sum(hours.weight), sum(hours.query_time), sum(hours.lock_time), sum(hours.rows_sent), sum(hours.rows_examined),
    sumMap([bucket], [hours.weight]), max(hour)
FROM tailrace.query_classes_1h AS hours
WHERE (SELECT count() FROM tailrace.query_classes_1d) = 0
GROUP BY query_id, cluster, instance, database, day
