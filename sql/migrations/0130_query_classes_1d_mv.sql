-- Fills query_classes_1d. Buckets and doubles as in query_load_1m_mv.
CREATE MATERIALIZED VIEW IF NOT EXISTS tailrace.query_classes_1d_mv {on_cluster}
TO tailrace.query_classes_1d
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
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
GROUP BY query_id, cluster, instance, database, day
