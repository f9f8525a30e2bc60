-- Fills query_load_1m. Sums are of doubles: rows_examined of a broken entry may be near 2^64, and a sum that
-- wraps around would be a small, plausible number.
CREATE MATERIALIZED VIEW IF NOT EXISTS tailrace.query_load_1m_mv {on_cluster}
TO tailrace.query_load_1m
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    cluster,
    instance,
    database,
    user,
    toStartOfMinute(toDateTime(event_time, 'UTC')) AS minute,
    toInt16(if(query_events.query_time > 0, round(log(query_events.query_time) / log(1.02)), -32768)) AS bucket,
    count() AS count,
    sum(query_events.weight) AS weight,
    sum(query_events.query_time * query_events.weight) AS query_time,
    sum(query_events.lock_time * query_events.weight) AS lock_time,
    sum(query_events.rows_sent * query_events.weight) AS rows_sent,
    sum(query_events.rows_examined * query_events.weight) AS rows_examined,
    sumIf(query_events.weight, ifNull(error_code, 0) != 0) AS errors
FROM tailrace.query_events
GROUP BY cluster, instance, database, user, minute, bucket
