-- Fills query_classes_1h; doubles for the reason given in query_load_1m_mv.
CREATE MATERIALIZED VIEW IF NOT EXISTS tailrace.query_classes_1h_mv {on_cluster}
TO tailrace.query_classes_1h
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    cluster,
    instance,
    database,
    user,
    query_id,
    rule_set,
    toStartOfHour(toDateTime(event_time, 'UTC')) AS hour,
    toInt16(if(query_events.query_time > 0, round(log(query_events.query_time) / log(1.02)), -32768)) AS bucket,
    count() AS count,
    sum(query_events.weight) AS weight,
    sum(query_events.query_time * query_events.weight) AS query_time,
    sum(query_events.lock_time * query_events.weight) AS lock_time,
    sum(query_events.rows_sent * query_events.weight) AS rows_sent,
    sum(query_events.rows_examined * query_events.weight) AS rows_examined,
    sumIf(query_events.weight, ifNull(error_code, 0) != 0) AS errors
FROM tailrace.query_events
GROUP BY cluster, instance, database, user, query_id, rule_set, hour, bucket
