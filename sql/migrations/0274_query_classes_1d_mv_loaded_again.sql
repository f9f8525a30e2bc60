-- The same query as in 0136. Before the migrations loaded changed views again, a block that the job repeated after the first restart
-- of ClickHouse counted twice in query_classes_1d. With this statement the migrations list the newest events, so that their blocks
-- count once, and compute their days again. `reconcile --repair` corrects earlier days.
ALTER TABLE tailrace.query_classes_1d_mv {on_cluster}
    MODIFY QUERY
SELECT
    query_id,
    cluster,
    instance,
    database,
    toStartOfDay(toDateTime(event_time, 'UTC')) AS day,
    count() AS count,
    sum(query_events.weight) AS weight,
    sum(query_events.query_time * query_events.weight) AS query_time,
    sum(query_events.lock_time * query_events.weight) AS lock_time,
    sum(query_events.rows_sent * query_events.weight) AS rows_sent,
    sum(query_events.rows_examined * query_events.weight) AS rows_examined,
    sumMap(
        [toInt16(if(query_events.query_time > 0, round(log(query_events.query_time) / log(1.02)), -32768))],
        [query_events.weight]) AS latencies,
    max(toStartOfHour(toDateTime(event_time, 'UTC'))) AS last_hour
FROM tailrace.query_events
WHERE event_id NOT IN (SELECT event_id FROM tailrace.counted_events WHERE view = 'query_classes_1d_mv')
GROUP BY query_id, cluster, instance, database, day
